"""What `import lycosa` offers: crawl folders, topics, comparisons. A thin layer over what the command line uses."""
