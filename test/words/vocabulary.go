package main

import "regexp"

// A term is a word that names neither an actor nor an action, with its replacement. Pending are the directories in which the term is still allowed.
type term struct {
	pattern *regexp.Regexp
	instead string
	pending []string
}

// refusedTerms are the words that comments, and sentences in strings, do without.
func refusedTerms() []term {
	prose := pendingProse()
	list := []struct {
		words, instead string
		pending        []string
	}{
		{words: `nobody|somebody|whoever|strangers?('s)?`, instead: "name who it is: the user, the tenant, another controller, an unmanaged commit"},
		{words: `tells?|told|telling`, instead: "name the reporter and the report: reports, returns, shows, observed, unknown"},
		{words: `anew`, instead: "write again, or name the object that is created a second time"},
		{words: `ways? back|bereft|retreat`, instead: "write rollback, roll back, or missing state"},
		{words: `(is|are) no`, instead: "write is not a, or has no"},
		{words: `knows? of|heeds?`, instead: "write has, reads or supports"},
		{words: `amiss|mend(s|ed)?`, instead: "write wrong, fixes or repairs"},
		{words: `letter|tale`, instead: "write commit message, or history"},
		{words: `says (so|whether|why)`, instead: "write reports whether, has the reason, or specifies", pending: prose},
		{words: `speaks? (about|of)`, instead: "write describes, or covers", pending: prose},
		{words: `there (is|are|was|were) none`, instead: "write if none exists, or name the missing object", pending: prose},
		{words: `(is|are|was|were) brought to`, instead: "write applied, or delivered to", pending: prose},
		{
			words:   `(is|are|returns|reports|counts) how (many|long|often|much)|(is|returns) since when`,
			instead: "write the noun: the number, the duration, the interval, the limit, the start", pending: prose,
		},
		{words: `outrun|kitchen|desk|murmur|lets go`, instead: "write the term of the field: branch moved, local renderer, requirements, stderr buffer, releases"},
	}
	out := make([]term, 0, len(list))
	for _, l := range list {
		out = append(out, term{pattern: regexp.MustCompile(`(?i)\b(` + l.words + `)\b`), instead: l.instead, pending: l.pending})
	}
	return out
}

// pendingProse are the directories in which objects still speak, and questions still take the place of nouns. The list shrinks to nothing.
func pendingProse() []string {
	return []string{
		".", "apis/delivery/...", "apis/evidence", "apis/step",
		"bundles/state", "cmd/kubectl-intent/...", "function/...", "package/observability/...",
		"provider", "provider/clusters/...", "provider/credentials", "provider/engines", "provider/fetch", "provider/gates/...",
		"provider/git/...", "provider/githubapp", "provider/hooks", "provider/kpack", "provider/notification", "provider/panics", "provider/prune",
		"provider/redaction", "provider/repository", "provider/shares", "provider/sources", "provider/state", "provider/tracing", "provider/usage",
		"provider/workload",
		"provider/controller/bundlestate", "provider/controller/gate", "provider/controller/gitdelivery", "provider/controller/imagebuild",
		"provider/controller/prunerequest", "provider/controller/sitesync", "provider/delivery/decision",
		"test/alerting", "test/apiserver", "test/cli", "test/collector", "test/gitserver", "test/hostile", "test/kpack", "test/kubelet", "test/load",
		"test/pages", "test/promserver", "test/receiver", "test/release", "test/scene", "test/soak", "test/traffic", "test/typed",
		"test/e2e/applications", "test/e2e/canary", "test/e2e/capt", "test/e2e/docs", "test/e2e/gates", "test/e2e/prune", "tools/controllers",
	}
}

// pendingDirectories are not held to the check yet: a package, or one with all below it (a/...). The list shrinks to nothing.
func pendingDirectories() []string {
	return []string{"apis/rollout/..."}
}
