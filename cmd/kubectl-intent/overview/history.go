package overview

// HistoryLines are all revisions that the ledger remembers, the newest first, each with why it was rejected.
func HistoryLines(o Overview, s Style) []string {
	out := []string{s.headlineText(o), s.cutLine(revisionRow("revision", "commit", "verdict", "sites", "requested by", "since"))}
	for _, r := range o.Revisions {
		out = append(out, s.cutLine(s.revisionLine(r)))
		if r.Reason != "" {
			out = append(out, s.labelledLines("", r.Reason+": "+r.Message)...)
		}
	}
	return append(out, s.unreadLines(o.Finding)...)
}
