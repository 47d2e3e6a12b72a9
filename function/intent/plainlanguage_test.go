package intent

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A paraphrase says a sentence in another way.
type paraphrase func(string) []string

func replaced(pattern, replacement string) paraphrase {
	r := regexp.MustCompile(pattern)
	return func(s string) []string { return []string{r.ReplaceAllString(s, replacement)} }
}

func computed(pattern string, replacement func(string) string) paraphrase {
	r := regexp.MustCompile(pattern)
	return func(s string) []string { return []string{r.ReplaceAllStringFunc(s, replacement)} }
}

func paraphrases() map[string]paraphrase {
	numbers := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	return map[string]paraphrase{
		"Order":      reordered,
		"Numbers":    computed(` ([0-9]|10) `, func(s string) string { i, _ := strconv.Atoi(strings.TrimSpace(s)); return " " + numbers[i] + " " }),
		"Digits":     replaced(`\bthree `, "3 "),
		"Singular":   replaced(`\b(replica|site|parameter|instance)s\b`, "$1"),
		"Plural":     replaced(`\b(replica|CPU)\b`, "${1}s"),
		"Seconds":    computed(`[0-9]+ ms\b`, seconds),
		"Together":   replaced(`([0-9]) (ms|Mbps|Gbps|s)\b`, "$1$2"),
		"Apart":      replaced(`([0-9])(Gi|Mi|ms|%)`, "$1 $2"),
		"Mebi":       replaced(`\b4Gi\b`, "4096Mi"),
		"Gigabits":   replaced(`\b200 Mbps\b`, "0.2 Gbps"),
		"Megabits":   replaced(`\b1 Gbps\b`, "1000 Mbps"),
		"Percent":    replaced(`([0-9])%`, "$1 percent"),
		"Verb":       replaced(`\bDeploy\b`, "Run"),
		"At":         replaced(`\bon\b`, "at"),
		"On":         replaced(`\bat (edge|both|all)`, "on $1"),
		"Below":      replaced(`\bunder\b`, "below"),
		"LessThan":   replaced(`\b(under|below)\b`, "less than"),
		"NoMoreThan": replaced(`\bat most\b`, "no more than"),
		"Minimum":    replaced(`\bat least\b`, "minimum"),
		"Downlink":   replaced(`\bdown\b`, "downlink"),
		"Comma":      replaced(` and `, ", "),
		"And":        replaced(`, `, " and "),
		"With":       replaced(`, `, " with "),
		"Period":     replaced(`$`, "."),
		"Case":       replaced(`\breplicas\b`, "REPLICAS"),
		"Instances":  replaced(`\breplicas\b`, "instances"),
		"Cores":      replaced(`\bCPU\b`, "cores"),
		"Spaces":     replaced(` `, " \n "),
		"P99":        replaced(`\bp99 latency\b`, "latency p99"),
		"Service":    replaced(`\bDeploy ([a-z-]+)\b`, "Deploy the $1 service"),
		"Called":     replaced(`\bDeploy ([a-z-]+)\b`, "Deploy a service called $1"),
	}
}

func seconds(s string) string {
	ms, _ := strconv.ParseFloat(strings.TrimSuffix(s, " ms"), 64)
	return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
}

// reordered returns the clauses of a sentence in the other orders.
func reordered(s string) []string {
	clauses := strings.Split(strings.TrimSuffix(s, "."), ", ")
	var out []string
	for i := range clauses {
		rotated := append(slices.Clone(clauses[i:]), clauses[:i]...)
		out = append(out, strings.Join(rotated, ", "))
		slices.Reverse(rotated)
		out = append(out, strings.Join(rotated, ", "))
	}
	return out
}

func TestParaphrases(t *testing.T) {
	total, understood := 0, 0
	for _, s := range golden(t) {
		if s.Error != "" || !plainLanguage(s.Text) {
			continue
		}
		for _, text := range twice(s.Text) {
			got, err := FromText(text)
			total++
			if err != nil {
				continue
			}
			understood++
			if string(got.Canonical()) != s.Canonical {
				t.Errorf("%s: %q: want %s or a refusal, got %s", s.Name, text, s.Canonical, got.Canonical())
			}
		}
	}
	// Refusing everything must not pass.
	if total < 2000 || understood*10 < total*7 {
		t.Errorf("understood %d of %d paraphrases: want 7 of 10, of at least 2000", understood, total)
	}
}

// twice returns a sentence paraphrased in each way, and then in each other one.
func twice(text string) []string {
	variants := map[string]bool{}
	for _, vary := range paraphrases() {
		for _, first := range vary(text) {
			for _, two := range paraphrases() {
				for _, second := range two(first) {
					variants[second] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(variants))
}

func plainLanguage(text string) bool {
	return !strings.HasPrefix(text, "{") && !beginsAsYAML(text)
}

func BenchmarkFromTextSentence(b *testing.B) {
	for b.Loop() {
		_, _ = FromText("Deploy edge-analytics on edge1 and edge2 with 3 replicas, 2 CPU and 4Gi each, p99 latency under 500 ms")
	}
}
