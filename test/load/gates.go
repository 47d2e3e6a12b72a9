package load

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Judge makes a Gate for each of some GitDeliveries, which measures in an interval for as long as Gates do. So many questions differ. It
// returns an error if one is refused.
func (l *Load) Judge(ctx context.Context, keys []types.NamespacedName, interval time.Duration, questions int) error {
	for i, key := range keys {
		g := newMeasuringGate(key, interval, fmt.Sprintf("max(error_ratio) + 0 * %d", i%questions))
		if err := l.createObjects(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func newMeasuringGate(key types.NamespacedName, interval time.Duration, query string) *rolloutv1alpha1.Gate {
	count := int32(100)
	g := &rolloutv1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	g.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: policy.KindProviderConfig, Name: config}
	g.Spec.ForProvider = rolloutv1alpha1.GateParameters{
		ClaimRef: claimReference(key), Order: Order(1),
		Checks: []rolloutv1alpha1.GateCheck{{Check: deploymentv1alpha1.Check{
			Name: "errors", Type: "Prometheus", Site: key.Namespace, Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: query},
			Threshold: "<= 0.05", InitialDelay: "1s", Interval: deploymentv1alpha1.Duration(interval.String()), Count: &count, Timeout: "24h",
		}}},
	}
	return g
}

// Measuring waits until so many Gates of a place measure. It returns an error if that cannot be read.
func (l *Load) Measuring(ctx context.Context, place string, n int) error {
	measuring := map[types.NamespacedName]bool{}
	err := l.followObjects(ctx, &rolloutv1alpha1.GateList{}, place, func(o client.Object) bool {
		g, ok := o.(*rolloutv1alpha1.Gate)
		if ok && g.GetCondition(xpv2.TypeReady).Reason == rolloutv1alpha1.ReasonMeasuring {
			measuring[client.ObjectKeyFromObject(g)] = true
		}
		return len(measuring) == n
	})
	return errors.Wrapf(err, "%d of %d Gates measure", len(measuring), n)
}
