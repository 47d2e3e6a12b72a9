package intent

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/intentplane/intentplane/apis/containerimage"
	"github.com/intentplane/intentplane/function/intent/document"
)

// Bounds of an intent. The schema of an expectation has the same bounds.
const (
	maxSites      = 100
	maxReplicas   = 10000
	maxParameters = 64
	maxValue      = 4096
	maxImage      = 512
)

var (
	serviceName   = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$`)
	typeName      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)
	siteName      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
	parameterName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,62}$`)
	plainQuantity = regexp.MustCompile(`^[0-9]{1,19}([.][0-9]{1,9})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`)
)

// A draft is an intent whose values are not checked yet.
type draft struct {
	Intent

	// paths of the fields that set values, where they are not the paths of a service intent.
	paths map[string]string
}

// newIntentDraft returns a draft with defaults.
func newIntentDraft(defaults Intent) *draft {
	return &draft{Intent: defaults, paths: map[string]string{}}
}

// defaultIntent returns the values of an intent that sets nothing.
func defaultIntent() Intent {
	return Intent{Type: DefaultType, Replicas: 1, Priority: DefaultPriority}
}

// problemAtPath returns a problem at the path that something was said at.
func (d *draft) problemAtPath(path, format string, args ...any) *document.Problem {
	return document.Problemf(d.pathInForm(path), format, args...)
}

// pathInForm returns the path that something was said at.
func (d *draft) pathInForm(path string) string {
	if p, ok := d.paths[path]; ok {
		return p
	}
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return path
	}
	return d.pathInForm(path[:i]) + path[i:]
}

// normalizeDraft returns the draft in its normal form, or the first problem of its values.
func (d *draft) normalizeDraft() (Intent, *document.Problem) {
	checks := []func() *document.Problem{
		d.checkNameAndType, d.checkSiteNames, d.checkSelector, d.checkReplicas, d.checkSiteReplicas, d.checkImageRef, d.checkResources,
		d.checkRuntime, d.checkEndpoints, d.checkParameters, d.checkQoSBounds, d.checkNetworkSlice, d.checkPriority, d.checkSLOThresholds,
	}
	for _, check := range checks {
		if prob := check(); prob != nil {
			return Intent{}, prob
		}
	}
	out := d.Intent
	out.Sites = slices.Sorted(slices.Values(d.Sites))
	out.Endpoints = slices.SortedFunc(slices.Values(d.Endpoints), func(a, b Endpoint) int { return strings.Compare(a.Name, b.Name) })
	if len(out.SiteReplicas) == 0 {
		out.SiteReplicas = nil
	}
	out.Parameters, out.Selector, out.SLOs = nilIfEmptyMap(out.Parameters), nilIfEmptyMap(out.Selector), nilIfEmptyMap(out.SLOs)
	return out.withClassDefaults(), nil
}

func nilIfEmptyMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

func (d *draft) checkNameAndType() *document.Problem {
	if d.Service == "" {
		return d.problemAtPath("service", "must be set: it names the service to run")
	}
	if !serviceName.MatchString(d.Service) {
		return d.problemAtPath("service", "must be a DNS label of at most 52 characters: lower-case letters, digits and '-', beginning with one of a-z")
	}
	if !typeName.MatchString(d.Type) {
		return d.problemAtPath("type", "must consist of at most 40 lower-case letters, digits and '-'")
	}
	return nil
}

func (d *draft) checkSiteNames() *document.Problem {
	if len(d.Sites) > maxSites {
		return d.problemAtPath("sites", "must not name more than %d Sites", maxSites)
	}
	for i, s := range d.Sites {
		path := document.Item("sites", i)
		if !isSiteName(s) {
			return d.problemAtPath(path, "must be the name of a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if slices.Contains(d.Sites[:i], s) {
			return d.problemAtPath(path, "names %s a second time", s)
		}
		if isSiteKeyword(s) && len(d.Sites) > 1 {
			return d.problemAtPath(path, "%q stands for several Sites: name no other", s)
		}
	}
	return nil
}

func (d *draft) checkReplicas() *document.Problem {
	if d.Replicas < 0 || d.Replicas > maxReplicas {
		return d.problemAtPath("replicas", "must be from 0 to %d", maxReplicas)
	}
	return nil
}

func (d *draft) checkSiteReplicas() *document.Problem {
	if len(d.SiteReplicas) > maxSites {
		return d.problemAtPath("siteReplicas", "must not name more than %d Sites", maxSites)
	}
	named := len(d.Sites) > 0 && !isSiteKeyword(d.Sites[0])
	for _, s := range slices.Sorted(maps.Keys(d.SiteReplicas)) {
		path := document.Child("siteReplicas", s)
		if !isSiteName(s) || isSiteKeyword(s) {
			return d.problemAtPath(path, "must be named by a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if named && !slices.Contains(d.Sites, s) {
			return d.problemAtPath(path, "%s is not one of the intent's Sites", s)
		}
		if n := d.SiteReplicas[s]; n < 0 || n > maxReplicas {
			return d.problemAtPath(path, "must be from 0 to %d", maxReplicas)
		}
	}
	return nil
}

func (d *draft) checkImageRef() *document.Problem {
	if d.Image == "" {
		return nil
	}
	if len(d.Image) > maxImage {
		return d.problemAtPath("image", "must not be longer than %d characters", maxImage)
	}
	if _, err := containerimage.Parse(d.Image); err != nil {
		return d.problemAtPath("image", "must be the reference of an image, such as %s", containerimage.Example)
	}
	return nil
}

func (d *draft) checkResources() *document.Problem {
	if prob := d.normalizeQuantity(&d.Resources.CPU, "resources.cpu", "500m"); prob != nil {
		return prob
	}
	return d.normalizeQuantity(&d.Resources.Memory, "resources.memory", "4Gi")
}

// normalizeQuantity checks a quantity and writes it in its canonical form, so that 0.5 and 500m are the same. Exponents are refused: a
// large one costs the library more time than there is.
func (d *draft) normalizeQuantity(q *string, path, example string) *document.Problem {
	if *q == "" {
		return nil
	}
	if !plainQuantity.MatchString(*q) {
		return d.problemAtPath(path, "must be a quantity, such as %s", example)
	}
	parsed, err := resource.ParseQuantity(*q)
	if err != nil || parsed.Sign() <= 0 {
		return d.problemAtPath(path, "must be a quantity above zero, such as %s", example)
	}
	*q = parsed.String()
	return nil
}

func (d *draft) checkParameters() *document.Problem {
	if len(d.Parameters) > maxParameters {
		return d.problemAtPath("parameters", "must not be more than %d", maxParameters)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Parameters)) {
		path := document.Child("parameters", k)
		if !IsParameter(k) {
			return d.problemAtPath(path, "must be named by at most 63 letters, digits, '-', '_' and '.', beginning with one of the letters")
		}
		if v := d.Parameters[k]; len(v) > maxValue || !utf8.ValidString(v) || strings.IndexFunc(v, isForbiddenInValue) >= 0 {
			return d.problemAtPath(path, "must be at most %d bytes of text without control characters", maxValue)
		}
	}
	return nil
}

// IsParameter reports whether a parameter may have this name.
func IsParameter(s string) bool {
	return parameterName.MatchString(s)
}

// isForbiddenInValue reports whether the value of a parameter may not have a character.
func isForbiddenInValue(r rune) bool {
	return r == '\r' || document.IsControl(r)
}

func isSiteName(s string) bool {
	return siteName.MatchString(s)
}

func isSiteKeyword(s string) bool {
	return s == SitesBoth || s == SitesAll
}
