package sentence

// placeWords returns the words before Sites: "at edge1", "across all sites".
func placeWords() []phrase { return phrasesMeaning("", "on", "at", "across") }

// siteNouns returns the words that may stand before the names or labels of Sites: "on the sites edge1 and edge2", "on sites labelled tier=edge".
func siteNouns() []phrase { return phrasesMeaning("", "site", "sites") }

// manySiteAliases returns the aliases of several Sites: "both" stands for both, "every site" for all. A noun may follow them: "both sites".
func manySiteAliases() []phrase {
	return joinPhraseTables(
		phrasesMeaning("both", "both"),
		phrasesMeaning("all", "all", "every site"),
	)
}

// isSiteAlias reports whether a word stands for several Sites, in quotes too.
func isSiteAlias(word string) bool { return word == "both" || word == "all" }

// everySiteWords returns the words behind a number of replicas that each Site gets: "3 replicas at each site".
func everySiteWords() []phrase {
	return phrasesMeaning("", "each", "per site", "at each site", "on each site", "at every site", "on every site")
}
