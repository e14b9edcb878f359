"""Rules, naive Bayes, trees and clusters learned from counts of several parties."""
