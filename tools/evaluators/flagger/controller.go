// Package flagger judges series of answers by the scheduler of Flagger.
package flagger

import (
	"context"
	"errors"
	"time"

	flaggerv1 "github.com/fluxcd/flagger/pkg/apis/flagger/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/tools/evaluators/flagger/canary"
	"github.com/intentplane/intentplane/tools/evaluators/flagger/router"
)

// A Controller has the fields and methods that the extracted code of Flagger's controller calls. Events and metrics go nowhere, and hooks agree.
type Controller struct {
	recorder         recorder
	logger           logger
	kubeClient       noSecrets
	flaggerInformers informers
	isRolledBack     bool
}

func (*Controller) recordEventInfof(*flaggerv1.Canary, string, ...any)    {}
func (*Controller) recordEventWarningf(*flaggerv1.Canary, string, ...any) {}
func (*Controller) recordEventErrorf(*flaggerv1.Canary, string, ...any)   {}
func (*Controller) alert(*flaggerv1.Canary, string, bool, flaggerv1.AlertSeverity) {
}

func (*Controller) runPreRolloutHooks(*flaggerv1.Canary) bool             { return true }
func (*Controller) runConfirmTrafficIncreaseHooks(*flaggerv1.Canary) bool { return true }
func (*Controller) runConfirmPromotionHooks(*flaggerv1.Canary, canary.Controller) bool {
	return true
}

// runBuiltinMetricChecks has nothing to check: no canary here has a metric of Flagger's own.
func (*Controller) runBuiltinMetricChecks(*flaggerv1.Canary) bool { return true }

// CallWebhook is not called: no canary here has webhooks.
func CallWebhook(flaggerv1.Canary, flaggerv1.CanaryPhase, flaggerv1.CanaryWebhook) error {
	return errors.New("no canary has webhooks")
}

func (c *Controller) rollback(*flaggerv1.Canary, canary.Controller, router.Interface, canary.ScalerReconciler) {
	c.isRolledBack = true
}

type recorder struct{}

// SetAnalysis records nothing.
func (recorder) SetAnalysis(*flaggerv1.Canary, string, float64) {}

// SetDuration records nothing.
func (recorder) SetDuration(*flaggerv1.Canary, time.Duration) {}

// SetWeight records nothing.
func (recorder) SetWeight(*flaggerv1.Canary, int, int) {}

type logger struct{}

// With returns the same logger.
func (l logger) With(...any) logger { return l }

// Infof logs nothing.
func (logger) Infof(string, ...any) {}

// Debugf logs nothing.
func (logger) Debugf(string, ...any) {}

// noSecrets is a cluster without Secrets.
type noSecrets struct{}

// CoreV1 returns the same client.
func (n noSecrets) CoreV1() noSecrets { return n }

// Secrets returns the same client.
func (n noSecrets) Secrets(string) noSecrets { return n }

// Get returns the error of a missing Secret.
func (noSecrets) Get(context.Context, string, metav1.GetOptions) (*corev1.Secret, error) {
	return nil, errors.New("the cluster has no Secrets")
}

// informers have one MetricTemplate.
type informers struct {
	MetricInformer templates
}

type templates struct{ one *flaggerv1.MetricTemplate }

// Lister returns the same templates.
func (t templates) Lister() templates { return t }

// MetricTemplates returns the templates of any namespace.
func (t templates) MetricTemplates(string) templates { return t }

// Get returns the one template.
func (t templates) Get(string) (*flaggerv1.MetricTemplate, error) {
	return t.one, nil
}
