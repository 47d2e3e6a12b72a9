package compose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// maxGateName is how long the name of a Gate may be: that of a label, so that it can be one.
const maxGateName = 63

// GateName is the name of the composed resource that judges a position.
func GateName(p ledger.Position) string {
	return fmt.Sprintf("gate-%d-%d", p.Revision, p.Step)
}

// Gate is the managed resource that judges the step of a state, while the SiteSync proves that it is live: a SiteSync without a name yet is
// that of the claim. The config has the policy for an unavailable metrics backend. It is nil without checks. A Gate
// never changes, so an existing Gate stays as it is.
func Gate(claim rolloutv1alpha1.ClaimReference, s ledger.State, sync *deliveryv1alpha1.SiteSync, config deploymentv1alpha1.GatesConfig, checks []rolloutv1alpha1.GateCheck) *rolloutv1alpha1.Gate {
	if len(checks) == 0 {
		return nil
	}
	position := s.Position()
	g := &rolloutv1alpha1.Gate{
		TypeMeta: metav1.TypeMeta{APIVersion: rolloutv1alpha1.GroupVersion.String(), Kind: "Gate"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: claim.Namespace, Name: gateObjectName(claim, position),
			Labels: map[string]string{LabelClaim: claim.Name}, Annotations: map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s)},
		},
		Spec: rolloutv1alpha1.GateSpec{
			// Each check names the configuration of its Site. The Gate names the first, so that it does not count as one of the default.
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ProviderConfigReference: checks[0].ProviderConfigReference.DeepCopy(),
				ManagementPolicies:      xpv2.ManagementPolicies{xpv2.ManagementActionAll},
			},
			ForProvider: rolloutv1alpha1.GateParameters{ClaimRef: claim, Position: &position, Blueprint: s.Current.Blueprint, Checks: checks},
		},
	}
	setUnavailablePolicy(&g.Spec.ForProvider, config)
	if s.Current.HasSteps() {
		g.Spec.ForProvider.Until = rolloutv1alpha1.GateUntilReleased
	}
	if sync != nil && sync.GetName() != "" {
		g.Spec.ForProvider.SiteSyncRef = &rolloutv1alpha1.SiteSyncReference{Name: sync.GetName()}
	}
	return g
}

// setUnavailablePolicy leaves defaults out, so that an older definition of Gates, too, accepts a Gate without a policy of its own.
func setUnavailablePolicy(p *rolloutv1alpha1.GateParameters, config deploymentv1alpha1.GatesConfig) {
	if config.MetricsUnavailableTimeout != deploymentv1alpha1.DefaultMetricsUnavailableTimeout {
		p.MetricsUnavailableTimeout = config.MetricsUnavailableTimeout
	}
	if config.OnMetricsUnavailable != deploymentv1alpha1.DefaultOnMetricsUnavailable {
		p.OnMetricsUnavailable = config.OnMetricsUnavailable
	}
}

// gateObjectName says which claim, revision and step a Gate judges. A digest separates a composite from the claim of its name, and stands for
// the end of a name that is too long.
func gateObjectName(claim rolloutv1alpha1.ClaimReference, p ledger.Position) string {
	suffix, whole, name := fmt.Sprintf("-r%d-s%d", p.Revision, p.Step), claim.Name, claim.Name
	claimed := claim.APIGroup == deploymentv1alpha1.GroupClaims
	if !claimed {
		whole = claim.APIGroup + "/" + claim.Name
	}
	if !claimed || len(name)+len(suffix) > maxGateName {
		sum := sha256.Sum256([]byte(whole))
		suffix = "-" + hex.EncodeToString(sum[:4]) + suffix
		name = strings.TrimRight(name[:min(len(name), maxGateName-len(suffix))], "-")
	}
	return name + suffix
}
