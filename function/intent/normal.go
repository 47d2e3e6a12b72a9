package intent

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/intentplane/intentplane/function/intent/document"
)

// Bounds of an intent. The schema of an expectation has the same ones.
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

// A draft is an intent that nobody has looked at yet.
type draft struct {
	Intent

	// paths that parts of it were said at, where they are not those of a service intent.
	paths map[string]string
}

// newDraft returns a draft with defaults.
func newDraft(defaults Intent) *draft {
	return &draft{Intent: defaults, paths: map[string]string{}}
}

// defaults are what holds where nobody says anything.
func defaults() Intent {
	return Intent{Type: DefaultType, Replicas: 1, Priority: DefaultPriority}
}

// said returns a problem at the path that something was said at.
func (d *draft) said(path, format string, args ...any) *document.Problem {
	return document.Problemf(d.at(path), format, args...)
}

// at returns the path that something was said at.
func (d *draft) at(path string) string {
	if p, ok := d.paths[path]; ok {
		return p
	}
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return path
	}
	return d.at(path[:i]) + path[i:]
}

// normal returns the draft in its normal form, or the first thing that is wrong with it.
func (d *draft) normal() (Intent, *document.Problem) {
	checks := []func() *document.Problem{
		d.checkNames, d.checkSites, d.checkSelector, d.checkReplicas, d.checkSiteReplicas, d.checkImage, d.checkResources,
		d.checkEndpoints, d.checkParameters, d.checkQoS, d.checkSlice, d.checkPriority, d.checkSLOs,
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
	out.Parameters, out.Selector, out.SLOs = orNil(out.Parameters), orNil(out.Selector), orNil(out.SLOs)
	return out.withClass(), nil
}

func orNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

func (d *draft) checkNames() *document.Problem {
	if d.Service == "" {
		return d.said("service", "must be set: it names what is to run")
	}
	if !serviceName.MatchString(d.Service) {
		return d.said("service", "must be a DNS label of at most 52 characters: lower-case letters, digits and '-', beginning with a letter")
	}
	if !typeName.MatchString(d.Type) {
		return d.said("type", "must consist of at most 40 lower-case letters, digits and '-'")
	}
	return nil
}

func (d *draft) checkSites() *document.Problem {
	if len(d.Sites) > maxSites {
		return d.said("sites", "must not name more than %d Sites", maxSites)
	}
	for i, s := range d.Sites {
		path := document.Item("sites", i)
		if !isSite(s) {
			return d.said(path, "must be the name of a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if slices.Contains(d.Sites[:i], s) {
			return d.said(path, "names %s a second time", s)
		}
		if isWord(s) && len(d.Sites) > 1 {
			return d.said(path, "%q stands for several Sites: name no other", s)
		}
	}
	return nil
}

func (d *draft) checkReplicas() *document.Problem {
	if d.Replicas < 0 || d.Replicas > maxReplicas {
		return d.said("replicas", "must be from 0 to %d", maxReplicas)
	}
	return nil
}

func (d *draft) checkSiteReplicas() *document.Problem {
	if len(d.SiteReplicas) > maxSites {
		return d.said("siteReplicas", "must not name more than %d Sites", maxSites)
	}
	named := len(d.Sites) > 0 && !isWord(d.Sites[0])
	for _, s := range slices.Sorted(maps.Keys(d.SiteReplicas)) {
		path := document.Child("siteReplicas", s)
		if !isSite(s) || isWord(s) {
			return d.said(path, "must be named by a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if named && !slices.Contains(d.Sites, s) {
			return d.said(path, "%s is not one of the intent's Sites", s)
		}
		if n := d.SiteReplicas[s]; n < 0 || n > maxReplicas {
			return d.said(path, "must be from 0 to %d", maxReplicas)
		}
	}
	return nil
}

func (d *draft) checkImage() *document.Problem {
	if d.Image == "" {
		return nil
	}
	if len(d.Image) > maxImage {
		return d.said("image", "must not be longer than %d characters", maxImage)
	}
	if _, err := name.ParseReference(d.Image); err != nil {
		return d.said("image", "must be the reference of an image, such as registry.example.org/team/app:1.2.0")
	}
	return nil
}

func (d *draft) checkResources() *document.Problem {
	if prob := d.quantity(&d.Resources.CPU, "resources.cpu", "500m"); prob != nil {
		return prob
	}
	return d.quantity(&d.Resources.Memory, "resources.memory", "4Gi")
}

// quantity checks a quantity and writes it in its canonical form, so that 0.5 and 500m are the same. Exponents are refused: a
// large one costs the library more time than there is.
func (d *draft) quantity(q *string, path, example string) *document.Problem {
	if *q == "" {
		return nil
	}
	if !plainQuantity.MatchString(*q) {
		return d.said(path, "must be a quantity, such as %s", example)
	}
	parsed, err := resource.ParseQuantity(*q)
	if err != nil || parsed.Sign() <= 0 {
		return d.said(path, "must be a quantity above zero, such as %s", example)
	}
	*q = parsed.String()
	return nil
}

func (d *draft) checkParameters() *document.Problem {
	if len(d.Parameters) > maxParameters {
		return d.said("parameters", "must not be more than %d", maxParameters)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Parameters)) {
		path := document.Child("parameters", k)
		if !IsParameter(k) {
			return d.said(path, "must be named by a letter and then at most 62 letters, digits, '-', '_' and '.'")
		}
		if v := d.Parameters[k]; len(v) > maxValue || !utf8.ValidString(v) || strings.IndexFunc(v, notText) >= 0 {
			return d.said(path, "must be at most %d bytes of text without control characters", maxValue)
		}
	}
	return nil
}

// IsParameter says whether a parameter may have this name.
func IsParameter(s string) bool {
	return parameterName.MatchString(s)
}

// notText says whether a character is one that the value of a parameter may not have.
func notText(r rune) bool {
	return r == '\r' || document.IsControl(r)
}

func isSite(s string) bool {
	return siteName.MatchString(s)
}

func isWord(s string) bool {
	return s == SitesBoth || s == SitesAll
}
