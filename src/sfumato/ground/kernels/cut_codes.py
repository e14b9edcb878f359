"""Small numbers by which the cutting of groups is told what to do."""

from __future__ import annotations

LEVELS, RANGE, VALUES = 0, 1, 2
"""Values of a column are priced together by their lowest label, by their range, or by how many they are."""

ORDERED, RELAXED, CUT, CHOOSE, LEAST, WEIGHED = 0, 1, 2, 3, 4, 5
"""Places of the rule: whether cuts lie between any two values (otherwise between the children of a group's label, the
frequent ones first); whether a cut may divide rows of one value; where columns are cut; what makes a cut better; how
many rows each side must have; whether what every group costs is asked for."""

BALANCED, MEDIAN, ANY = 0, 1, 2
"""A column is cut where it is best balanced (elsewhere only afterwards), at the median only, or anywhere alike."""

METRIC, WIDTH, GAIN = 0, 1, 2
"""A cut is better by the price that it wins, by the width of its column, by what it tells about the class."""

HOPE = 0.3
"""What later cuts may win, as a share of the price."""

ALIKE = 2.0**40
"""Two cuts are equally good to one part in so many: less than that is left by rounding."""

SPLINTER = 16
"""Where all ordered cuts compete, those that part fewer than one in so many rows come last: they could go on long."""
