"""Hiding sensitive sets and rules: records with as little taken out as it needs.

Source: Verykios, Elmagarmid, Bertino, Saygin, Dasseni 2004 (items and transactions); Saygin, Verykios, Clifton 2001
(unknowns); Sun, Yu 2005 and Moustakides, Verykios 2008 (borders); Gkoulalas-Divanis, Verykios 2006 (exact).
"""
