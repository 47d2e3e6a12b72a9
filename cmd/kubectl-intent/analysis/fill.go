package analysis

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Marks of a placeholder in a template of Argo Rollouts or of Flagger.
const (
	openPlaceholder  = "{{"
	closePlaceholder = "}}"
)

// flaggerName matches the names that a placeholder of Flagger may have: it is a template of Go, in which other names are an error.
var flaggerName = regexp.MustCompile(`^(?:variables\.)?[A-Za-z_][A-Za-z0-9_]*$`)

// fillPlaceholders replaces the placeholders of a text by their values. A value that has a placeholder of ours, such as {{service}}, keeps it. A placeholder reaches from
// the first mark to the next end, as in Argo Rollouts (github.com/valyala/fasttemplate): "{{{args.a}}}" names no argument.
func (c *converter) fillPlaceholders(field, text string, values map[string]string) string {
	out := strings.Builder{}
	for {
		before, rest, isOpen := strings.Cut(text, openPlaceholder)
		out.WriteString(before)
		if !isOpen {
			return out.String()
		}
		name, behind, isClosed := strings.Cut(rest, closePlaceholder)
		if !isClosed {
			c.refuseFieldf(field, "%q begins a placeholder that does not end, so that the template is refused", openPlaceholder+rest)
			return out.String()
		}
		out.WriteString(c.placeholderValue(field, name, values))
		text = behind
	}
}

// placeholderValue returns the value of a placeholder.
func (c *converter) placeholderValue(field, inner string, values map[string]string) string {
	found, name := openPlaceholder+inner+closePlaceholder, strings.TrimSpace(inner)
	c.usedArgs[argumentName(name)] = true
	value, ok := values[name]
	switch {
	case !c.declaresArgs && !flaggerName.MatchString(name):
		c.refuseFieldf(field, "%s is not the name of one value, such as {{ target }} or {{ variables.a }}", found)
	case ok:
	case c.declaresArgs:
		c.refuseFieldf(field, "%s is not among spec.args, so that Argo Rollouts refuses the template: declare it", found)
	default:
		c.refuseFieldf(field, "%s has no value: say --arg %s=VALUE. {{service}}, {{namespace}} and {{site}} may be a part of it", found, argumentName(name))
	}
	return value
}

// fillConstant replaces the placeholders of a text that is the same in each deployment.
func (c *converter) fillConstant(field, text string, values map[string]string) string {
	out := c.fillPlaceholders(field, text, values)
	c.refuseOwnPlaceholder(field, out)
	return out
}

// refuseOwnPlaceholder refuses a placeholder of ours outside of a query, which alone is filled for each deployment.
func (c *converter) refuseOwnPlaceholder(field, text string) {
	if strings.Contains(text, openPlaceholder) {
		c.refuseFieldf(field, "%q has a placeholder, and only a query is filled for each deployment: say --arg with a value that has none", text)
	}
}

// validateFileValue returns the value that a file has for a placeholder. Its braces are plain text there, and would be a placeholder of ours.
func (c *converter) validateFileValue(field, value string) string {
	if strings.Contains(value, openPlaceholder) {
		c.refuseFieldf(field, "%q has a placeholder, which is not filled in a value: say --arg with another value", value)
	}
	return value
}

// argumentName returns the name under which a user gives a value for a placeholder.
func argumentName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, argsPrefix), variablesPrefix)
}

// parseCheckDuration returns a duration as a check has it, or 0 for an empty text.
func (c *converter) parseCheckDuration(field, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > longest {
		c.refuseFieldf(field, "%q is not between 1s and 24h", text)
		return 0
	}
	return d
}

// Bounds of the durations and numbers of a check.
const (
	longest         = 24 * time.Hour
	defaultDelay    = 30 * time.Second
	defaultInterval = 30 * time.Second
	defaultTimeout  = 5 * time.Minute
	defaultCount    = 3
	defaultErrors   = 4
	maxCount        = 100
)

// setCheckTimes sets when a check is measured, and a timeout that leaves room for measurements which do not count: as many errors as the check may have, which
// its limit of errors in a row is set for.
func (c *converter) setCheckTimes(field string, check *deploymentv1alpha1.Check, delay, interval time.Duration, count int32) {
	if count > maxCount {
		c.refuseFieldf(field, "a check has at most %d measurements, and not %d", maxCount, count)
		return
	}
	check.Count = new(count)
	check.InitialDelay, check.Interval = durationText(delay), durationText(interval)
	all := time.Duration(count) * cmp.Or(interval, defaultInterval)
	needs := max(delay, defaultDelay) + all
	if needs >= longest {
		c.refuseFieldf(field, "%d measurements take %s, and a check at most 24h", count, needs)
		return
	}
	errorsInRow := int32(defaultErrors)
	if check.ConsecutiveErrorLimit != nil {
		errorsInRow = *check.ConsecutiveErrorLimit
	}
	needsWithErrors := max(2*needs, needs+time.Duration(errorsInRow)*all)
	if needsWithErrors > longest {
		c.addNotef(field, "a check ends after 24h, although measurements with errors may take %s", needsWithErrors)
	}
	if needsWithErrors >= defaultTimeout {
		check.Timeout = durationText(min(needsWithErrors, longest))
	}
}

// durationText returns a duration as people write it. It is empty for 0.
func durationText(d time.Duration) deploymentv1alpha1.Duration {
	if d == 0 {
		return ""
	}
	out := d.String()
	for _, needless := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(out, needless) {
			out = out[:len(out)-len("0s")]
		}
	}
	return deploymentv1alpha1.Duration(out)
}

// wholeNumber returns a number, or nil for a text that is refused.
func (c *converter) wholeNumber(field, text string, minimum int64) *int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < minimum || n > maxCount {
		c.refuseFieldf(field, "%q is not a whole number from %d to %d", text, minimum, maxCount)
		return nil
	}
	return new(int32(n))
}
