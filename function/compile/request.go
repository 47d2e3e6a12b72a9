package compile

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/expansion"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
)

// Request is the current request, as digests.
type Request struct {
	ledger.Request

	// Blueprint that the trees are compiled with.
	Blueprint *ledger.BlueprintReference

	// Plan to go out in.
	Plan []ledger.Step
}

// sitePart is the part of a request about one Site.
type sitePart struct {
	Name       string                 `json:"name"`
	Config     catalog.ConfigRef      `json:"config"`
	Repository string                 `json:"repository"`
	Branch     string                 `json:"branch"`
	Path       string                 `json:"path"`
	Layout     catalogv1alpha1.Layout `json:"layout"`
	Parameters map[string]string      `json:"parameters,omitempty"`

	Substitution expansion.Mode `json:"substitution,omitempty"`
}

// sources is all that a request depends on beside the intent and the renderer.
type sources struct {
	Sites     []sitePart    `json:"sites"`
	Blueprint string        `json:"blueprint"`
	Plan      []ledger.Step `json:"plan"`
}

// NewRequest digests the desired state. Intent is the canonical form of the intent, and blueprint the digest of the
// Blueprint's spec. It returns an error, whose reason ReasonOf returns, for invalid waves and steps, and another error when a part cannot be encoded.
func NewRequest(spec deploymentv1alpha1.IntentDeploymentSpec, intent string, s *catalog.Selection, blueprint string, renderer int32) (Request, error) {
	w, err := intentDigest(spec, intent)
	if err != nil {
		return Request{}, err
	}
	plan, err := canary.PlanWithoutSteps(spec.DeliveryConfig.Waves, s.Places)
	if err == nil {
		err = canary.CheckSpec(spec, s)
	}
	if err != nil {
		return Request{}, InvalidSpec(err)
	}
	from := sources{Blueprint: blueprint, Plan: plan}
	for _, p := range s.Places {
		from.Sites = append(from.Sites, sitePartOfPlace(p))
	}
	d, err := digest.Of(from, nil)
	out := Request{Blueprint: blueprintReference(spec.Blueprint, s, blueprint), Plan: plan}
	out.Request = ledger.Request{Intent: w, Sources: d, Scheme: digest.Scheme, Renderer: renderer}
	return out, err
}

func blueprintReference(choice deploymentv1alpha1.BlueprintChoice, s *catalog.Selection, digest string) *ledger.BlueprintReference {
	b := &ledger.BlueprintReference{Name: s.Blueprint.GetName(), Digest: digest}
	if choice.Version == "" {
		b.Channel = choice.Channel
	}
	return b
}

// intentDigest digests the content of a delivery and the rules that judge it, whatever form the intent was written in. It
// excludes rollback policy, timeouts, deletion policy, suspend, and the update policy of the Blueprint.
func intentDigest(s deploymentv1alpha1.IntentDeploymentSpec, intent string) (string, error) {
	return digest.Spec(&deploymentv1alpha1.IntentDeploymentSpec{
		Intent: &intent,
		Blueprint: deploymentv1alpha1.BlueprintChoice{
			Name:    s.Blueprint.Name,
			Version: s.Blueprint.Version,
			Channel: s.Blueprint.Channel,
		},
		DeliveryConfig: deploymentv1alpha1.DeliveryConfig{
			TargetSite:   s.DeliveryConfig.TargetSite,
			SiteSelector: s.DeliveryConfig.SiteSelector,
			Waves:        s.DeliveryConfig.Waves,
			Canary:       s.DeliveryConfig.Canary,
		},
		GatesConfig: s.GatesConfig,
	})
}

func sitePartOfPlace(p catalog.Place) sitePart {
	part := sitePart{
		Name:       p.Site.GetName(),
		Config:     p.ConfigRef,
		Repository: p.Repository,
		Branch:     p.Config.Git.Branch,
		Path:       p.Path,
		Layout:     p.Site.Spec.Repository.Layout,
		Parameters: siteParameters(p),
	}
	// Where a replacement is possible, objects with variables declare them since a version of the renderer, which each request has.
	if m := expansion.ModeAt(p.Site.Spec.Engine); m == expansion.ModeDisabled {
		part.Substitution = m
	}
	return part
}

// siteParameters returns the parameters of the Site of a place.
func siteParameters(p catalog.Place) map[string]string {
	out := make(map[string]string, len(p.Site.Spec.Parameters))
	for key, value := range p.Site.Spec.Parameters {
		out[key] = string(value)
	}
	return out
}
