package load

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// ReadyConfigs returns the versions of the configurations of some places. It returns an error if one cannot be read, or is not Ready.
func (l *Load) ReadyConfigs(ctx context.Context, places []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range places {
		c := &configv1alpha1.ProviderConfig{}
		if err := l.kube.Get(ctx, types.NamespacedName{Namespace: p, Name: Config}, c); err != nil {
			return nil, errors.Wrapf(err, "cannot get ProviderConfig of %s", p)
		}
		if r := c.Status.GetCondition(xpv2.TypeReady); r.Status != corev1.ConditionTrue {
			return nil, errors.Errorf("the ProviderConfig of %s is not ready: %s %s", p, r.Reason, r.Message)
		}
		out[p] = c.GetResourceVersion()
	}
	return out, nil
}
