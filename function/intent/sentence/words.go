package sentence

import "strings"

// A phrase is a sequence of words of the grammar, and its meaning.
type phrase struct {
	words string
	means string
}

// phrasesMeaning returns phrases that all mean the same.
func phrasesMeaning(means string, words ...string) []phrase {
	out := make([]phrase, 0, len(words))
	for _, w := range words {
		out = append(out, phrase{words: w, means: means})
	}
	return out
}

func joinPhraseTables(parts ...[]phrase) []phrase {
	var out []phrase
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func deployVerbs() []phrase {
	return phrasesMeaning("", "deploy", "run", "install", "create", "provision", "launch", "start", "set up", "roll out")
}

// determiners returns articles and other words before a noun that do not change its meaning.
func determiners() []phrase {
	return phrasesMeaning("", "a", "an", "the", "my", "our", "your", "his", "her", "its", "their", "this", "that", "these", "those")
}

func serviceNouns() []phrase {
	return phrasesMeaning("", "service", "application", "app", "workload", "microservice", "micro-service")
}

// adjectives returns words that people say before a noun. They name neither services nor Sites, also without the noun: "deploy latest on edge1".
func adjectives() []phrase {
	return phrasesMeaning("", "new", "newer", "newest", "brand-new", "latest", "existing", "current", "present", "recent", "previous", "old", "older",
		"updated", "upgraded", "improved", "modified", "original", "first", "second", "third", "fourth", "fifth", "last", "final", "main", "primary",
		"secondary", "default", "standard", "normal", "regular", "common", "typical", "generic", "custom", "internal", "external", "public", "private", "legacy",
		"stable", "working", "secure", "reliable", "scalable", "modern", "lightweight", "simple", "complex", "basic", "minimal", "small", "little", "tiny", "big",
		"large", "huge",
		"great", "good", "nice", "cool", "best", "fancy", "awesome", "amazing", "favourite", "favorite", "fast", "quick", "real",
		"actual", "single", "different", "particular", "specific", "certain", "given", "following", "usual", "additional", "extra",
		"separate", "important", "fresh", "initial", "temporary", "experimental", "shiny", "beautiful", "lovely", "robust", "efficient", "dedicated",
		"shared", "complete", "full", "proper", "correct", "right", "wrong", "active", "running",
		"entire", "whole", "own", "same", "other", "stateless", "stateful", "containerized", "containerised")
}

// otherNouns returns nouns that name no service by themselves, and of which the grammar has no singular before a name.
func otherNouns() []phrase {
	return phrasesMeaning("", "services", "applications", "apps", "workloads", "microservices", "micro-services", "deployment", "deployments", "pod", "pods",
		"container", "containers", "component", "components", "program", "programs", "project", "projects", "software", "thing", "things", "stuff",
		"code", "codebase", "package", "packages", "solution", "solutions", "artifact", "artifacts", "artefact", "artefacts", "binary", "binaries",
		"file", "files", "object", "objects", "resource", "resources", "manifest", "manifests", "changes",
		"version", "versions", "release", "releases", "build", "builds", "system", "systems", "item", "items")
}

func namingWords() []phrase { return phrasesMeaning("", "called", "named") }

func sliceClasses() []phrase {
	return joinPhraseTables(
		phrasesMeaning("eMBB", "embb", "enhanced mobile broadband", "enhanced-mobile-broadband"),
		phrasesMeaning("URLLC", "urllc", "ultra-reliable low-latency", "ultra-reliable-low-latency"),
		phrasesMeaning("mMTC", "mmtc", "massive machine-type", "massive-machine-type"),
	)
}

func replicaNouns() []phrase {
	return phrasesMeaning("", "replica", "replicas", "instance", "instances", "copy", "copies")
}

func labelWords() []phrase {
	return phrasesMeaning("", "labelled", "labeled", "with the label", "with the labels", "with label", "with labels")
}

func perReplicaWords() []phrase { return phrasesMeaning("", "each", "per replica", "for each replica") }

func cpuNouns() []phrase {
	return joinPhraseTables(
		phrasesMeaning("", "cpu", "cpus", "core", "cores", "vcpu", "vcpus"),
		phrasesMeaning("m", "millicpu", "millicores", "millicore"),
	)
}

func memoryNouns() []phrase { return phrasesMeaning("", "memory", "ram") }

// memoryUnitSuffix returns the suffix of a quantity for a unit. Letters keep their case: a Gb is not a GB.
func memoryUnitSuffix(unit string) (string, bool) {
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

func protocolNames() []phrase {
	return joinPhraseTables(phrasesMeaning("TCP", "tcp"), phrasesMeaning("UDP", "udp"), phrasesMeaning("SCTP", "sctp"))
}

func throughputDirections() []phrase {
	return joinPhraseTables(
		phrasesMeaning("downlink", "down", "downlink", "download", "downstream", "dl"),
		phrasesMeaning("uplink", "up", "uplink", "upload", "upstream", "ul"),
	)
}

func comparisonPhrases() []phrase {
	return joinPhraseTables(
		phrasesMeaning("<", "under", "below", "less than", "lower than"),
		phrasesMeaning("<=", "at most", "up to", "no more than", "not more than", "maximum", "max", "within"),
		phrasesMeaning(">", "over", "above", "more than", "greater than", "higher than"),
		phrasesMeaning(">=", "at least", "no less than", "not less than", "minimum", "min"),
	)
}

func metricNames() []phrase {
	out := joinPhraseTables(
		phrasesMeaning("cross_site_latency", "cross-site latency"),
		phrasesMeaning("latency", "latency"),
		phrasesMeaning("jitter", "jitter"),
		phrasesMeaning("packet_loss_rate", "packet loss rate", "packet loss"),
		phrasesMeaning("error_rate", "error rate"),
		phrasesMeaning("availability", "availability"),
		phrasesMeaning("throughput", "throughput"),
	)
	for _, p := range []string{"p50", "p90", "p95", "p99"} {
		out = append(out, phrasesMeaning("latency_"+p, p+" latency", "latency "+p)...)
	}
	return out
}

func priorityLevels() []phrase {
	return joinPhraseTables(phrasesMeaning("low", "low"), phrasesMeaning("medium", "medium"), phrasesMeaning("high", "high"), phrasesMeaning("critical", "critical"))
}

func clauseJoiners() []phrase {
	return phrasesMeaning("", "and with", "and", "with", "using", "having")
}

// reservedWords returns the words of the grammar beside its tables, and some common words that it does not have: none is a name.
func reservedWords() []phrase {
	return phrasesMeaning("", "please", "of", "type", "as", "for", "slice", "network", "image", "from", "port", "expose", "exposing",
		"parameter", "parameters", "is", "priority", "sst", "sd", "plmn", "percent", "hundred", "thousand", "label", "labels",
		"in", "to", "not", "no", "do", "never", "only", "except", "without", "or", "but", "then", "if", "unless", "until", "any", "total")
}

// functionWords are the pronouns, quantifiers, prepositions, conjunctions, auxiliaries, adverbs and polite words of English that name nothing. Words that
// people do give to services, such as hello, next and well, are not among them.
func functionWords() []phrase {
	pronouns := phrasesMeaning("", "i", "me", "mine", "you", "yours", "he", "him", "she", "hers", "it", "we", "us", "ours", "they", "them", "theirs",
		"who", "whom", "whose", "which", "what")
	compounds := joinPhraseTables(compoundPhrases([]string{"my", "your", "him", "her", "it", "one"}, "self"), compoundPhrases([]string{"our", "your", "them"}, "selves"),
		compoundPhrases([]string{"some", "any", "every", "no"}, "body", "one", "thing"), compoundPhrases([]string{"who", "whom", "what", "which"}, "ever", "soever"))
	quantifiers := phrasesMeaning("", "some", "every", "each", "all", "both", "either", "neither", "none", "several", "many", "much", "few", "fewer", "more", "most", "less",
		"least", "enough", "another", "other", "others", "ones", "same", "such", "own", "various", "rest", "remainder", "lot", "lots", "plenty", "couple",
		"bunch", "dozen", "dozens", "aforementioned", "said", "former", "latter")
	prepositions := phrasesMeaning("", "about", "above", "after", "against", "along", "among", "around", "before", "behind", "below", "beneath", "beside", "besides", "between",
		"beyond", "by", "during", "inside", "into", "near", "onto", "outside", "per", "since", "through", "throughout", "toward", "towards", "under",
		"upon", "via", "within", "alongside", "amid", "amongst", "atop", "concerning", "despite", "including",
		"like", "off", "out", "regarding", "till", "underneath", "unlike", "versus")
	conjunctions := phrasesMeaning("", "and", "nor", "so", "yet", "because", "although", "though", "than", "while", "whereas", "when", "whenever", "where", "wherever",
		"whether", "how", "why")
	auxiliaries := phrasesMeaning("", "am", "are", "be", "been", "being", "was", "were", "can", "cannot", "could", "did", "does", "had", "has", "have", "may", "might", "must",
		"shall", "should", "will", "would", "let", "ought", "doing", "done")
	adverbs := phrasesMeaning("", "again", "already", "also", "always", "anywhere", "asap", "automatically", "carefully", "currently", "directly", "else", "elsewhere",
		"even", "everywhere", "finally", "forever", "globally", "gradually", "here", "immediately", "just", "locally", "manually", "maybe", "nearby", "now",
		"nowhere", "often", "once", "overnight", "perhaps", "permanently", "quickly", "quite", "rather", "recently", "remotely", "safely", "simply", "slowly",
		"somewhere", "soon", "still", "temporarily", "there", "today", "together", "tomorrow", "tonight", "too", "twice", "very", "yesterday",
		"ahead", "almost", "altogether", "anyhow", "anyway", "apart", "away", "ever", "exactly", "eventually", "fully", "further", "furthermore", "hence",
		"hopefully", "however", "indeed", "instantly", "later", "likewise", "mostly", "nearly", "nicely", "otherwise", "partly", "possibly", "probably",
		"properly", "really", "separately", "shortly", "somehow", "sometimes", "surely", "therefore", "thus", "usually",
		"absolutely", "certainly", "clearly", "completely", "correctly", "definitely", "early", "easily", "efficiently", "entirely", "gently", "ideally",
		"initially", "lately", "namely", "preferably", "previously", "promptly", "rapidly", "reliably", "securely", "silently", "smoothly", "straightaway",
		"successfully", "swiftly", "totally", "urgently")
	politeness := phrasesMeaning("", "kindly", "thank", "thanks", "thx", "pls", "plz", "cheers", "sorry", "dear", "ok", "okay", "yes", "yeah",
		"btw", "fyi", "etc", "oh", "um", "uh", "hmm", "wow")
	wholes := phrasesMeaning("", "entire", "whole")
	return joinPhraseTables(pronouns, compounds, quantifiers, prepositions, conjunctions, auxiliaries, adverbs, politeness, wholes)
}

// compoundPhrases returns each of the first words together with each ending.
func compoundPhrases(first []string, endings ...string) []phrase {
	var out []phrase
	for _, word := range first {
		for _, ending := range endings {
			out = append(out, phrase{words: word + ending})
		}
	}
	return out
}

// otherVerbs are words that ask for something which the grammar does not have. None is a name, so that "on edge1 and add 3 replicas" names no
// Site "add".
func otherVerbs() []phrase {
	return phrasesMeaning("", "add", "apply", "assign", "attach", "change", "configure", "deallocate", "decommission", "decrease", "delete", "destroy", "disable",
		"enable", "ensure", "evict", "give", "halve", "increase", "keep", "limit", "make", "move", "need", "provide", "put", "reduce", "relocate", "remove",
		"replace", "require", "reserve", "restart", "scale", "set", "shrink", "stop", "terminate", "undeploy", "uninstall", "update", "upgrade", "use", "want")
}

// negations are words that deny or restrict the words behind them.
func negations() []phrase {
	return phrasesMeaning("", "not", "no", "never", "neither", "nor", "none", "nothing", "nobody", "nowhere", "cannot", "without", "except", "only", "but", "or", "if",
		"unless", "until", "before", "after", "less", "least", "rather", "instead", "excluding", "minus", "hardly", "barely", "scarcely", "rarely", "seldom")
}

// CarriesMeaning reports whether a sentence without a word would say something else about the words behind it: without a negation its opposite, without a
// verb or a word for a place anything.
func CarriesMeaning(word string) bool {
	return wordsOfPhrases(negations(), otherVerbs(), placeWords())[strings.ToLower(word)]
}

// A vocabulary is all tables of the grammar, and the words in them.
type vocabulary struct {
	verbs, determiners, adjectives, nouns, otherNouns, namers, classes, replicas, everySite, places, siteNouns, manySites,
	labelers, perReplica, cpuNouns, memoryNouns, protocols, directions, comparisons, metrics, priorities, joiners []phrase

	reserved map[string]bool

	// typeNames are words that name no service, and may be types of services, and endpointNames those that may be names of endpoints.
	typeNames, endpointNames map[string]bool
}

func newVocabulary() vocabulary {
	v := vocabulary{
		verbs:       deployVerbs(),
		determiners: determiners(),
		adjectives:  adjectives(),
		nouns:       serviceNouns(),
		otherNouns:  otherNouns(),
		namers:      namingWords(),
		classes:     sliceClasses(),
		replicas:    replicaNouns(),
		everySite:   everySiteWords(),
		places:      placeWords(),
		siteNouns:   siteNouns(),
		manySites:   manySiteAliases(),
		labelers:    labelWords(),
		perReplica:  perReplicaWords(),
		cpuNouns:    cpuNouns(),
		memoryNouns: memoryNouns(),
		protocols:   protocolNames(),
		directions:  throughputDirections(),
		comparisons: comparisonPhrases(),
		metrics:     metricNames(),
		priorities:  priorityLevels(),
		joiners:     clauseJoiners(),
	}
	v.typeNames, v.endpointNames = wordsOfPhrases(v.nouns, v.otherNouns, v.adjectives), wordsOfPhrases(v.adjectives)
	v.reserved = wordsOfPhrases(reservedWords(), functionWords(), negations(), otherVerbs(), v.otherNouns, v.verbs, v.determiners, v.adjectives, v.nouns,
		v.namers, v.classes, v.replicas, v.everySite, v.places, v.siteNouns, v.manySites, v.labelers, v.perReplica, v.cpuNouns, v.memoryNouns, v.protocols,
		v.directions, v.comparisons, v.metrics, v.priorities, v.joiners)
	return v
}

// wordsOfPhrases returns the words that cannot be names, so that a word is either a name or of the grammar.
func wordsOfPhrases(tables ...[]phrase) map[string]bool {
	out := map[string]bool{}
	for _, p := range joinPhraseTables(tables...) {
		for word := range strings.FieldsSeq(p.words) {
			out[word] = true
		}
	}
	return out
}
