"""What `import lycosa` offers: crawl folders, topics, comparisons. Thin over the parts that the command line uses."""
