package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The environment of a walk: the stories that it plays, and the rule that is taken away.
const (
	walkVariable = "INTENTPLANE_WALK"
	ruleVariable = "INTENTPLANE_WITHOUT"
)

// findVariable looks for the first story that goes wrong without each rule, among so many, and prints it.
const findVariable = "INTENTPLANE_FIND"

// module of the product.
const module = "github.com/intentplane/intentplane"

// A rule of the function. A story goes wrong without it, or a test of its package, and not with it.
type rule struct {
	reason string
	// file of the project.
	file string
	// at is where the rule is in the file. The deciding condition is between « and ».
	at string
	// without is the replacement of the deciding condition where the rule is taken away.
	without string
	// typ is the type of the condition. Empty means bool.
	typ string
	// story that misses it.
	story uint64
	// test of the package that misses it. Empty means that a story does.
	test string
}

// rulesByTest returns the rules that a test of their package checks, or the rules that a story checks.
func rulesByTest(all map[string]rule, isByTest bool) map[string]rule {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(_ string, r rule) bool { return isByTest != (r.test != "") })
	return out
}

// splitDecision splits the place of a rule: the text before the condition, the condition, and the text after it.
func (r rule) splitDecision() (prefix, decision, suffix string) {
	prefix, rest, _ := strings.Cut(r.at, "«")
	decision, suffix, _ = strings.Cut(rest, "»")
	return prefix, decision, suffix
}

// insertRuleSwitch lets a rule be taken away when the program runs.
func (r rule) insertRuleSwitch(name string) string {
	prefix, decision, suffix := r.splitDecision()
	typ := r.typ
	if typ == "" {
		typ = "bool"
	}
	return fmt.Sprintf("%sruleOf(%q, func() %s { return %s }, func() %s { return %s })%s", prefix, name, typ, decision, typ, r.without, suffix)
}

// helper is the file that each package with a removed rule gets.
const helper = `package %s

import "os"

func ruleOf[T any](name string, with, without func() T) T {
	if os.Getenv("` + ruleVariable + `") == name {
		return without()
	}
	return with()
}
`

// writeOverlay writes the sources with all rules switched, and returns the file that names them.
func writeOverlay(t *testing.T, dir string) string {
	t.Helper()
	sources, replace := map[string]string{}, map[string]string{}
	all := allRules()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		path, err := filepath.Abs(filepath.Join("..", "..", r.file))
		if err != nil {
			t.Fatal(err)
		}
		if sources[path] == "" {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] = string(b)
		}
		prefix, decision, suffix := r.splitDecision()
		if n := strings.Count(sources[path], prefix+decision+suffix); n != 1 || decision == "" {
			t.Fatalf("%s: %s holds the rule %d times: %s", name, r.file, n, r.at)
		}
		sources[path] = strings.Replace(sources[path], prefix+decision+suffix, r.insertRuleSwitch(name), 1)
	}
	for path, text := range sources {
		_, rest, _ := strings.Cut("\n"+text, "\npackage ")
		pkg, _, _ := strings.Cut(rest, "\n")
		replace[path] = writeGoFile(t, dir, text)
		replace[filepath.Join(filepath.Dir(path), "rule_of.go")] = writeGoFile(t, dir, fmt.Sprintf(helper, pkg))
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return writeGoFile(t, dir, string(b))
}

func writeGoFile(t *testing.T, dir, text string) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// buildSwitched builds the tests of a package with all rules switched.
func buildSwitched(t *testing.T, pkg string) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "switched.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", writeOverlay(t, dir), "-o", out, module+"/"+pkg)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the tests of %s: %v\n%s", pkg, err, b)
	}
	return out
}

// playStories plays stories without a rule, and returns the output, and whether one went wrong. A story that panics shows nothing.
func playStories(t *testing.T, walker, stories, disabledRule string) (printed string, wrong bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), walker, "-test.run", "^TestWalk$", "-test.v")
	cmd.Dir = filepath.Join("..", "..", "function", "deployment")
	cmd.Env = append(os.Environ(), walkVariable+"="+stories, ruleVariable+"="+disabledRule, variable+"=")
	out, err := cmd.CombinedOutput()
	panics := strings.Contains(string(out), "panic: ")
	if panics || err == nil && !strings.Contains(string(out), "--- PASS: TestWalk") {
		t.Errorf("the stories %s cannot be played:\n%s", stories, out)
	}
	return string(out), err != nil && !panics && strings.Contains(string(out), "--- FAIL: TestWalk")
}

// searched is among how many stories one is looked for that misses a rule, where the named one does not.
const searched = 600

// shortWalk is how many stories are played with all rules in make test, which plays few with the race detector.
const shortWalk = 200

// runRuleTest runs the test of a rule without one, and reports whether it fails. A test that panics, or that is not there, does not.
func runRuleTest(t *testing.T, binary string, r rule, disabledRule string) (out string, fails bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^"+r.test+"$", "-test.v")
	cmd.Dir = filepath.Join("..", "..", filepath.Dir(r.file))
	cmd.Env = append(os.Environ(), ruleVariable+"="+disabledRule, variable+"=")
	b, err := cmd.CombinedOutput()
	if !strings.Contains(string(b), "--- ") || strings.Contains(string(b), "panic: ") {
		t.Errorf("%s cannot be run:\n%s", r.test, b)
	}
	return string(b), err != nil
}

// firstBrokenStory is the first story that goes wrong without a rule, with the violation. It is empty if none does.
func firstBrokenStory(t *testing.T, walker, among, rule string) string {
	t.Helper()
	printed, _ := playStories(t, walker, "1-"+among, rule)
	for line := range strings.SplitSeq(printed, "\n") {
		if _, story, ok := strings.Cut(line, ": story "); ok {
			return story
		}
	}
	return ""
}
