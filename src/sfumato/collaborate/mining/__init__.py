"""Rules, naive Bayes, trees and clusters of several parties, learnt from counts that they add up."""
