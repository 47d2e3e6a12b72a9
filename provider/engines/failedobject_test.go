package engines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestFindFailedObject(t *testing.T) {
	const argo, sync, flux = catalogv1alpha1.EngineArgoCD, catalogv1alpha1.EngineConfigSync, catalogv1alpha1.EngineFlux
	failedAt := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	const (
		degraded   = `health: {status: Degraded, lastTransitionTime: "2026-11-01T12:00:00Z"}`
		deployment = `{group: apps, kind: Deployment, namespace: shop, name: web, status: Synced, health: {status: Degraded, message: "exceeded its progress deadline"}}`
		stalled    = `observedGeneration: 3, conditions: [{type: Stalled, status: "True", lastTransitionTime: "2026-11-01T12:00:00Z"}]`
		failed     = `{group: apps, kind: Deployment, namespace: shop, name: web, status: Failed}`
	)
	resource := func(group, kind string) string {
		return `{group: "` + group + `", kind: ` + kind + `, namespace: shop, name: web, status: Failed, health: {status: Degraded}}`
	}
	const synced = stalled + `, sync: {commit: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}`
	failedAtCommit := func(hash string) string {
		return `, resourceStatuses: [{group: apps, kind: Deployment, namespace: shop, name: web, status: Failed, sourceHash: ` + hash + `}]`
	}
	web := &FailedObject{Name: "Deployment shop/web", Message: "exceeded its progress deadline", FailedAt: failedAt}
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.EngineType
		status string
		want   *FailedObject
	}{
		"Argo": {
			reason: "Argo CD calls a Deployment Degraded once it exceeded its progress deadline.", engine: argo,
			status: degraded + `, resources: [` + deployment + `]`, want: web,
		},
		"ArgoJob": {
			reason: "Argo CD calls a Job Degraded once it failed.", engine: argo,
			status: degraded + `, resources: [` + resource("batch", "Job") + `]`, want: &FailedObject{Name: "Job shop/web", FailedAt: failedAt},
		},
		"ArgoRollout": {
			reason: "Argo CD calls a Rollout Degraded for its progress deadline, an abort, and an invalid spec.", engine: argo,
			status: degraded + `, resources: [` + resource("argoproj.io", "Rollout") + `]`, want: &FailedObject{Name: "Rollout shop/web", FailedAt: failedAt},
		},
		"ArgoRun": {
			reason: "A run that failed does not run again, whatever runs it.", engine: argo,
			status: degraded + `, resources: [` + resource("tekton.dev", "PipelineRun") + `, ` + resource("argoproj.io", "Workflow") + `]`,
			want:   &FailedObject{Name: "PipelineRun shop/web", FailedAt: failedAt},
		},
		"ArgoFirst": {
			reason: "The first of several objects by name is named, whatever their order.", engine: argo,
			status: degraded + `, resources: [` + resource("batch", "Job") + `, ` + deployment + `]`, want: web,
		},
		"ArgoOther": {
			reason: "Argo CD calls objects Degraded that recover by themselves.", engine: argo,
			status: degraded + `, resources: [` + resource("", "Pod") + `, ` + resource("", "PersistentVolumeClaim") + `, ` + resource("gateway.networking.k8s.io", "HTTPRoute") + `, ` +
				resource("apps", "StatefulSet") + `, ` + resource("apps", "ReplicaSet") + `, ` + resource("autoscaling", "HorizontalPodAutoscaler") + `, ` +
				resource("helm.toolkit.fluxcd.io", "HelmRelease") + `, ` + resource("serving.knative.dev", "Service") + `]`,
		},
		"ArgoOtherGroup": {
			reason: "A Deployment or Job of another group has a health of its own.",
			engine: argo, status: degraded + `, resources: [` + resource("example.org", "Deployment") + `, ` + resource("example.org", "Job") + `]`,
		},
		"ArgoUndated": {
			reason: "A version that reports a health without its time does not report about the present content.",
			engine: argo, status: `health: {status: Degraded}, resources: [` + deployment + `]`,
		},
		"ArgoUnknown": {
			reason: "Argo CD says Unknown where it cannot reach the cluster: that is an outage.", engine: argo,
			status: `health: {status: Unknown, lastTransitionTime: "2026-11-01T12:00:00Z"}, resources: [` + deployment + `]`,
		},
		"ArgoMissing": {
			reason: "An object that is missing may be created later.",
			engine: argo, status: `health: {status: Missing, lastTransitionTime: "2026-11-01T12:00:00Z"}, resources: [` + deployment + `]`,
		},
		"ArgoNoHealth": {
			reason: "A version that keeps the health of objects elsewhere names none.",
			engine: argo, status: degraded + `, resources: [{group: apps, kind: Deployment, namespace: shop, name: web}]`,
		},
		"ArgoProgress": {
			reason: "A Deployment that makes progress has not failed.",
			engine: argo,
			status: degraded + `, resources: [{group: apps, kind: Deployment, namespace: shop, name: web, health: {status: Progressing}}]`,
		},
		"Sync": {
			reason: "Config Sync calls a Deployment Failed once it exceeded its progress deadline.",
			engine: sync, status: stalled + `, resourceStatuses: [` + failed + `]`,
			want: &FailedObject{Name: "Deployment shop/web", FailedAt: failedAt},
		},
		"SyncStalled": {
			reason: "Config Sync calls an object of any other kind Failed once its controller is stalled.",
			engine: sync, status: stalled + `, resourceStatuses: [` + resource("helm.toolkit.fluxcd.io", "HelmRelease") + `]`,
			want: &FailedObject{Name: "HelmRelease shop/web", FailedAt: failedAt},
		},
		"SyncConnector": {
			reason: "Config Connector tries again what failed.",
			engine: sync, status: stalled + `, resourceStatuses: [` + resource("sql.cnrm.cloud.google.com", "SQLInstance") + `]`,
		},
		"SyncPod": {
			reason: "Config Sync calls a pod Failed whose container ends again and again: it may recover.",
			engine: sync, status: stalled + `, resourceStatuses: [` + resource("", "Pod") + `]`,
		},
		"SyncNotStalled": {
			reason: "A ResourceGroup that is not stalled does not say since when an object failed.", engine: sync,
			status: `observedGeneration: 3, resourceStatuses: [` + failed + `]`,
		},
		"SyncUndated": {
			reason: "A stall without a time may be about an earlier content.",
			engine: sync, status: `observedGeneration: 3, conditions: [{type: Stalled, status: "True"}], resourceStatuses: [` + failed + `]`,
		},
		"SyncEarlier": {
			reason: "A ResourceGroup that is not up to date speaks of an earlier content.",
			engine: sync,
			status: `observedGeneration: 2, conditions: [{type: Stalled, status: "True", lastTransitionTime: "2026-11-01T12:00:00Z"}], resourceStatuses: [` + failed + `]`,
		},
		"SyncCommit": {
			reason: "An object that failed at the synced commit failed.", engine: sync, status: synced + failedAtCommit("bbbbbbb"),
			want: &FailedObject{Name: "Deployment shop/web", FailedAt: failedAt},
		},
		"SyncEarlierCommit": {
			reason: "A failure at an earlier commit says nothing about the synced commit.", engine: sync, status: synced + failedAtCommit("aaaaaaa"),
		},
		"SyncNoCommit": {
			reason: "A failure at no commit is not about the synced commit, if another object reports its commit.",
			engine: sync, status: synced + `, resourceStatuses: [` + failed + `, {kind: Service, namespace: shop, name: web, status: Current, sourceHash: bbbbbbb}]`,
		},
		"SyncUnknown": {
			reason: "An object whose status is unknown has not failed.",
			engine: sync, status: stalled + `, resourceStatuses: [{group: apps, kind: Deployment, namespace: shop, name: web, status: Unknown}]`,
		},
		"Flux":      {reason: "Flux reports no health of single objects.", engine: flux, status: degraded + `, resources: [` + deployment + `]`},
		"Malformed": {reason: "A status that cannot be decoded reports nothing.", engine: sync, status: `conditions: many`},
		"MalformedArgo": {
			reason: "Fields of an unexpected type report nothing.", engine: argo, status: `health: Degraded, resources: [1, {health: Degraded}]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("{metadata: {name: web, generation: 3}, status: {"+tc.status+"}}"), &u.Object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, FindFailedObject(tc.engine, u, u)); diff != "" {
				t.Errorf("\n%s\nFindFailedObject(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := FindFailedObject(argo, nil, nil); got != nil {
		t.Errorf("An engine's object that does not exist reports nothing: got %v", got)
	}
}
