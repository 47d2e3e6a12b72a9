package sentence

import "strings"

// A phrase is a sequence of words of the grammar, and what it stands for.
type phrase struct {
	words string
	means string
}

// meaning returns phrases that all mean the same.
func meaning(means string, words ...string) []phrase {
	out := make([]phrase, 0, len(words))
	for _, w := range words {
		out = append(out, phrase{words: w, means: means})
	}
	return out
}

func join(parts ...[]phrase) []phrase {
	var out []phrase
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func verbs() []phrase {
	return meaning("", "deploy", "run", "install", "create", "provision", "launch", "start", "set up", "roll out")
}

func articles() []phrase { return meaning("", "a", "an", "the") }

func nouns() []phrase { return meaning("", "service", "application", "app") }

func namers() []phrase { return meaning("", "called", "named") }

func classes() []phrase {
	return join(
		meaning("eMBB", "embb", "enhanced mobile broadband", "enhanced-mobile-broadband"),
		meaning("URLLC", "urllc", "ultra-reliable low-latency", "ultra-reliable-low-latency"),
		meaning("mMTC", "mmtc", "massive machine-type", "massive-machine-type"),
	)
}

func replicas() []phrase {
	return meaning("", "replica", "replicas", "instance", "instances", "copy", "copies")
}

func everySite() []phrase {
	return meaning("", "each", "per site", "at each site", "on each site", "at every site", "on every site")
}

func places() []phrase { return meaning("", "on", "at", "across") }

func siteNouns() []phrase { return meaning("", "site", "sites", "the site", "the sites") }

func manySites() []phrase {
	return join(
		meaning("both", "both sites", "both"),
		meaning("all", "all sites", "all", "every site"),
	)
}

func labelers() []phrase {
	return meaning("", "labelled", "labeled", "with the label", "with the labels", "with label", "with labels")
}

func perReplica() []phrase { return meaning("", "each", "per replica", "for each replica") }

func cpuNouns() []phrase {
	return join(
		meaning("", "cpu", "cpus", "core", "cores", "vcpu", "vcpus"),
		meaning("m", "millicpu", "millicores", "millicore"),
	)
}

func memoryNouns() []phrase { return meaning("", "memory", "ram") }

// memoryUnit returns the suffix of a quantity for a unit. Letters keep their case: a Gb is not a GB.
func memoryUnit(unit string) (string, bool) {
	switch unit {
	case "Ki", "Mi", "Gi", "Ti":
		return unit, true
	case "KiB", "MiB", "GiB", "TiB":
		return strings.TrimSuffix(unit, "B"), true
	case "kibibyte", "kibibytes":
		return "Ki", true
	case "mebibyte", "mebibytes":
		return "Mi", true
	case "gibibyte", "gibibytes":
		return "Gi", true
	case "kB", "kilobyte", "kilobytes":
		return "k", true
	case "MB", "megabyte", "megabytes":
		return "M", true
	case "GB", "gigabyte", "gigabytes":
		return "G", true
	case "TB", "terabyte", "terabytes":
		return "T", true
	}
	return "", false
}

func protocols() []phrase {
	return join(meaning("TCP", "tcp"), meaning("UDP", "udp"), meaning("SCTP", "sctp"))
}

func directions() []phrase {
	return join(
		meaning("downlink", "down", "downlink", "download", "downstream", "dl"),
		meaning("uplink", "up", "uplink", "upload", "upstream", "ul"),
	)
}

func comparisons() []phrase {
	return join(
		meaning("<", "under", "below", "less than", "lower than"),
		meaning("<=", "at most", "up to", "no more than", "not more than", "maximum", "max", "within"),
		meaning(">", "over", "above", "more than", "greater than", "higher than"),
		meaning(">=", "at least", "no less than", "not less than", "minimum", "min"),
	)
}

func metrics() []phrase {
	out := join(
		meaning("cross_site_latency", "cross-site latency"),
		meaning("latency", "latency"),
		meaning("jitter", "jitter"),
		meaning("packet_loss_rate", "packet loss rate", "packet loss"),
		meaning("error_rate", "error rate"),
		meaning("availability", "availability"),
		meaning("throughput", "throughput"),
	)
	for _, p := range []string{"p50", "p90", "p95", "p99"} {
		out = append(out, meaning("latency_"+p, p+" latency", "latency "+p)...)
	}
	return out
}

func priorities() []phrase {
	return join(meaning("low", "low"), meaning("medium", "medium"), meaning("high", "high"), meaning("critical", "critical"))
}

func joiners() []phrase { return meaning("", "and with", "and", "with", "using", "having") }

// lone are the words that the grammar has beside its tables, and some that it does not have but people do: none is a name.
func lone() []phrase {
	return meaning("", "please", "of", "type", "as", "for", "slice", "network", "image", "from", "port", "expose", "exposing",
		"parameter", "parameters", "is", "priority", "sst", "sd", "plmn", "percent", "hundred", "thousand", "label", "labels",
		"in", "to", "not", "no", "do", "never", "only", "except", "without", "or", "but", "then", "if", "unless", "until", "any", "total")
}

// otherVerbs are words that ask for something which the grammar does not have. None is a name, so that "on edge1 and add 3 replicas" names no
// Site "add".
func otherVerbs() []phrase {
	return meaning("", "add", "apply", "assign", "attach", "change", "configure", "decrease", "delete", "disable", "enable", "ensure", "give", "increase", "keep",
		"limit", "make", "move", "need", "provide", "put", "reduce", "remove", "replace", "require", "reserve", "restart", "scale", "set", "stop", "uninstall", "update",
		"upgrade", "use", "want")
}

// A vocabulary is all tables of the grammar, and the words in them.
type vocabulary struct {
	verbs, articles, nouns, namers, classes, replicas, everySite, places, siteNouns, manySites,
	labelers, perReplica, cpuNouns, memoryNouns, protocols, directions, comparisons, metrics, priorities, joiners []phrase

	reserved map[string]bool
}

func newVocabulary() vocabulary {
	v := vocabulary{
		verbs:       verbs(),
		articles:    articles(),
		nouns:       nouns(),
		namers:      namers(),
		classes:     classes(),
		replicas:    replicas(),
		everySite:   everySite(),
		places:      places(),
		siteNouns:   siteNouns(),
		manySites:   manySites(),
		labelers:    labelers(),
		perReplica:  perReplica(),
		cpuNouns:    cpuNouns(),
		memoryNouns: memoryNouns(),
		protocols:   protocols(),
		directions:  directions(),
		comparisons: comparisons(),
		metrics:     metrics(),
		priorities:  priorities(),
		joiners:     joiners(),
	}
	v.reserved = wordsOf(lone(), otherVerbs(), v.verbs, v.articles, v.nouns, v.namers, v.classes, v.replicas, v.everySite, v.places, v.siteNouns, v.manySites, v.labelers, v.perReplica, v.cpuNouns, v.memoryNouns, v.protocols, v.directions, v.comparisons, v.metrics, v.priorities, v.joiners)
	return v
}

// wordsOf returns the words that no name may be, so that a name is never taken for something else, nor something else for it.
func wordsOf(tables ...[]phrase) map[string]bool {
	out := map[string]bool{}
	for _, p := range join(tables...) {
		for word := range strings.FieldsSeq(p.words) {
			out[word] = true
		}
	}
	return out
}
