package promql

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// literalGroup returns a regular expression that matches exactly a text, and is one thing wherever it stands.
func literalGroup(text string) string { return "(?:" + regexp.QuoteMeta(text) + ")" }

// checkRegexMatcher returns an error when a placeholder stands where a group is not one: in a class of characters, after a backslash, in a
// name or a count. With a named group in its place, the expression has to have this group.
func checkRegexMatcher(text string) error {
	names := map[string]bool{}
	marked := placeholderPattern.ReplaceAllStringFunc(text, func(string) string {
		name := fmt.Sprintf("placeholder%d", len(names))
		names[name] = true
		return "(?P<" + name + ">x)"
	})
	// Prometheus wraps it in this way.
	e, err := syntax.Parse("^(?s:"+marked+")$", syntax.Perl|syntax.DotNL)
	if err == nil {
		for _, name := range e.CapNames() {
			delete(names, name)
		}
	}
	if err != nil || len(names) > 0 {
		return errors.Errorf("%.64q has a placeholder where a regular expression does not take a group", text)
	}
	return nil
}
