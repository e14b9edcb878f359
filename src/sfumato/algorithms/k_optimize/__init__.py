"""K-Optimize: the best recoding by cuts between ordered values, by set enumeration."""
