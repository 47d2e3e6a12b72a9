package load

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	g := &rolloutv1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	g.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: policy.KindProviderConfig, Name: Config}
	g.Spec.ForProvider = rolloutv1alpha1.GateParameters{
		ClaimRef: claimReference(key), Position: new(Position(1)), Checks: []rolloutv1alpha1.GateCheck{newErrorsCheck(key.Namespace, interval, query)},
	}
	return g
}

// JudgeOnce makes a Gate for a GitDelivery that is judged by one measurement. It returns an error if it is refused.
func (l *Load) JudgeOnce(ctx context.Context, key types.NamespacedName) error {
	g := newMeasuringGate(key, time.Second, "max(error_ratio)")
	g.Spec.ForProvider.Checks[0].Count = new(int32(1))
	return l.createObjects(ctx, g)
}

// newErrorsCheck returns a check that measures for longer than a benchmark lasts.
func newErrorsCheck(site string, interval time.Duration, query string) rolloutv1alpha1.GateCheck {
	return rolloutv1alpha1.GateCheck{Check: deploymentv1alpha1.Check{
		Name: "errors", Type: "Prometheus", Site: site, Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: query},
		Threshold: "<= 0.05", InitialDelay: "1s", Interval: deploymentv1alpha1.Duration(interval.String()), Count: new(int32(100)), Timeout: "24h",
	}}
}

// Measuring waits until so many Gates of a place measure. It returns an error if that cannot be read.
func (l *Load) Measuring(ctx context.Context, place string, n int) error {
	measuring, err := l.awaitReadyCount(ctx, &rolloutv1alpha1.GateList{}, place, n, func(c xpv2.Condition) bool { return c.Reason == rolloutv1alpha1.ReasonMeasuring })
	return errors.Wrapf(err, "%d of %d Gates measure", measuring, n)
}
