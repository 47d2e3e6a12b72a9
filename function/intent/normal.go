package intent

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/api/resource"
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

// A draft is an intent that nobody has looked at yet, and the paths that its parts were said at.
type draft struct {
	Intent

	replicasPath string
	sitesPath    string
}

// normal returns the draft in its normal form, or the first thing that is wrong with it.
func (d *draft) normal() (Intent, *problem) {
	checks := []func() *problem{
		d.checkNames, d.checkSites, d.checkReplicas, d.checkSiteReplicas, d.checkImage, d.checkResources, d.checkParameters,
	}
	for _, check := range checks {
		if prob := check(); prob != nil {
			return Intent{}, prob
		}
	}
	out := d.Intent
	out.Sites = slices.Sorted(slices.Values(d.Sites))
	if len(out.SiteReplicas) == 0 {
		out.SiteReplicas = nil
	}
	if len(out.Parameters) == 0 {
		out.Parameters = nil
	}
	return out, nil
}

func (d *draft) checkNames() *problem {
	if d.Service == "" {
		return problemf("service", "must be set: it names what is to run")
	}
	if !serviceName.MatchString(d.Service) {
		return problemf("service", "must be a DNS label of at most 52 characters: lower-case letters, digits and '-', beginning with a letter")
	}
	if !typeName.MatchString(d.Type) {
		return problemf("type", "must consist of at most 40 lower-case letters, digits and '-'")
	}
	return nil
}

func (d *draft) checkSites() *problem {
	if len(d.Sites) > maxSites {
		return problemf(d.sitesPath, "must not name more than %d Sites", maxSites)
	}
	for i, s := range d.Sites {
		path := item(d.sitesPath, i)
		if d.sitesPath == "site" {
			path = "site"
		}
		if !isSite(s) {
			return problemf(path, "must be the name of a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if slices.Contains(d.Sites[:i], s) {
			return problemf(path, "names %s a second time", s)
		}
		if isWord(s) && len(d.Sites) > 1 {
			return problemf(path, "%q stands for several Sites: name no other", s)
		}
	}
	return nil
}

func (d *draft) checkReplicas() *problem {
	if d.Replicas < 0 || d.Replicas > maxReplicas {
		return problemf("replicas", "must be from 0 to %d", maxReplicas)
	}
	return nil
}

func (d *draft) checkSiteReplicas() *problem {
	if len(d.SiteReplicas) > maxSites {
		return problemf(d.replicasPath, "must not name more than %d Sites", maxSites)
	}
	named := len(d.Sites) > 0 && !isWord(d.Sites[0])
	for _, s := range slices.Sorted(maps.Keys(d.SiteReplicas)) {
		path := child(d.replicasPath, s)
		if !isSite(s) || isWord(s) {
			return problemf(path, "must be named by a Site: at most 63 lower-case letters, digits, '-' and '.'")
		}
		if named && !slices.Contains(d.Sites, s) {
			return problemf(path, "%s is not one of the intent's Sites", s)
		}
		if n := d.SiteReplicas[s]; n < 0 || n > maxReplicas {
			return problemf(path, "must be from 0 to %d", maxReplicas)
		}
	}
	return nil
}

func (d *draft) checkImage() *problem {
	if d.Image == "" {
		return nil
	}
	if len(d.Image) > maxImage {
		return problemf("image", "must not be longer than %d characters", maxImage)
	}
	if _, err := name.ParseReference(d.Image); err != nil {
		return problemf("image", "must be the reference of an image, such as registry.example.org/team/app:1.2.0")
	}
	return nil
}

func (d *draft) checkResources() *problem {
	if prob := quantity(&d.Resources.CPU, "resources.cpu", "500m"); prob != nil {
		return prob
	}
	return quantity(&d.Resources.Memory, "resources.memory", "4Gi")
}

// quantity checks a quantity and writes it in its canonical form, so that 0.5 and 500m are the same. Exponents are refused: a
// large one costs the library more time than there is.
func quantity(q *string, path, example string) *problem {
	if *q == "" {
		return nil
	}
	if !plainQuantity.MatchString(*q) {
		return problemf(path, "must be a quantity, such as %s", example)
	}
	parsed, err := resource.ParseQuantity(*q)
	if err != nil || parsed.Sign() <= 0 {
		return problemf(path, "must be a quantity above zero, such as %s", example)
	}
	*q = parsed.String()
	return nil
}

func (d *draft) checkParameters() *problem {
	if len(d.Parameters) > maxParameters {
		return problemf("parameters", "must not be more than %d", maxParameters)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Parameters)) {
		path := child("parameters", k)
		if !IsParameter(k) {
			return problemf(path, "must be named by a letter and then at most 62 letters, digits, '-', '_' and '.'")
		}
		if v := d.Parameters[k]; len(v) > maxValue || !utf8.ValidString(v) || strings.IndexFunc(v, notText) >= 0 {
			return problemf(path, "must be at most %d bytes of text without control characters", maxValue)
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
	return r == '\r' || forbidden(r)
}

func isSite(s string) bool {
	return siteName.MatchString(s)
}

func isWord(s string) bool {
	return s == SitesBoth || s == SitesAll
}
