"""Generated and recorded webs to run crawls on, and measures of how well they did."""
