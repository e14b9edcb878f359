"""K-Optimize: the best single-dimensional recoding by cuts between ordered values, by set enumeration."""
