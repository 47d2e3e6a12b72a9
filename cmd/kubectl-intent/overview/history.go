package overview

// HistoryLines are all revisions that the ledger remembers, the newest first, each with why it was rejected.
func HistoryLines(o Overview, s Style) []string {
	out := append([]string{s.headlineText(o)}, s.historyRows(o.Revisions)...)
	return append(out, s.unreadLines(o.Finding)...)
}

func (s Style) historyRows(all []Revision) []string {
	out := []string{s.truncateLine(revisionRow("revision", "commit", "verdict", "sites", "requested by", "since"))}
	for _, r := range all {
		out = append(out, s.truncateLine(s.revisionLine(r)))
		if r.Reason != "" {
			out = append(out, s.labelledLines("", r.Reason+": "+r.Message)...)
		}
	}
	return out
}
