package soak

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRules disables one rule of the function at a time, and plays the story that shows its purpose. All stories succeed with it.
func TestRules(t *testing.T) {
	walker, all := buildSwitched(t, "function/deployment"), rulesByTest(allRules(), false)
	if find := os.Getenv(findVariable); find != "" {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			t.Run(name, func(t *testing.T) {
				t.Logf("rule %s: story %s", name, cmp.Or(firstBrokenStory(t, walker, find, name), "none"))
			})
		}
		return
	}
	t.Run("All", func(t *testing.T) {
		named := []string{fmt.Sprintf("1-%d", shortWalk)}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			named = append(named, strconv.FormatUint(all[name].story, 10))
		}
		if printed, wrong := playStories(t, walker, strings.Join(named, ","), ""); wrong {
			t.Errorf("a story goes wrong with all rules:\n%s", printed)
		}
	})
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			printed, wrong := playStories(t, walker, strconv.FormatUint(r.story, 10), name)
			if wrong {
				return
			}
			// A change of the walk changes the random stories: another story may find the missing rule since.
			if found := firstBrokenStory(t, walker, strconv.Itoa(searched), name); found != "" {
				t.Logf("story %d does not miss the rule any more, and story %s", r.story, found)
				return
			}
			t.Errorf("\n%s\nneither story %d nor one of the first %d misses the rule:\n%s", r.reason, r.story, searched, printed)
		})
	}
	t.Logf("stories miss %d rules", len(all))
}

// TestTestedRules takes one rule of the function away at a time that no story of chance needs, and runs the test that shows why it is there.
func TestTestedRules(t *testing.T) {
	binaries := map[string]string{}
	all := rulesByTest(allRules(), true)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		pkg := filepath.Dir(r.file)
		if binaries[pkg] == "" {
			binaries[pkg] = buildSwitched(t, pkg)
		}
		t.Run(name, func(t *testing.T) {
			if out, fails := runRuleTest(t, binaries[pkg], r, ""); fails {
				t.Errorf("%s fails with all rules:\n%s", r.test, out)
			}
			if out, fails := runRuleTest(t, binaries[pkg], r, name); !fails {
				t.Errorf("\n%s\n%s of %s does not miss the rule:\n%s", r.reason, r.test, pkg, out)
			}
		})
	}
}
