package alerts

import (
	"fmt"
	"maps"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/alerting"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/receiver"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// password of the repository, and key of the receiver of notifications.
	password = "correct"
	key      = "receivers-own"
)

// A story causes a failure in a healthy namespace, and names the alerts that fire then.
type story struct {
	reason string
	// prepares creates the healthy state, and may be nil.
	prepares func(s *stage)
	breaks   func(s *stage)
	// shows is the matcher of a series that ends a story in which nothing is wrong, and no alert fires.
	shows  string
	alerts []string
}

// playAlertStory plays a story, and shows that just these alerts fire in it.
func (s *stage) playAlertStory(scenario story) {
	s.T.Helper()
	s.T.Log(scenario.reason)
	o := alerting.Observer{Server: s.server, Namespace: s.Namespace}
	if scenario.prepares != nil {
		scenario.prepares(s)
		s.Until("the good part is scraped", patience.Limit, func() bool {
			return len(s.queryServer(fmt.Sprintf(`intentdeployment_info{namespace=%q,phase="Succeeded"}`, s.Namespace))) == 1
		})
	}
	snapshot := o.TakeSnapshot(s.T)
	scenario.breaks(s)
	if scenario.shows != "" {
		s.Until("the end is scraped", patience.Limit, func() bool {
			return len(s.queryServer(fmt.Sprintf(`intentdeployment_info{namespace=%q,%s}`, s.Namespace, scenario.shows))) == 1
		})
	}
	o.ExpectFiring(s.T, snapshot, scenario.alerts...)
}

// deploymentStories returns the stories, each of one deployment.
func deploymentStories() map[string]story {
	out := revisionStories()
	maps.Copy(out, surroundingStories())
	maps.Copy(out, healthyStories())
	return out
}

// healthyStories are about good outcomes that no alert is about.
func healthyStories() map[string]story {
	return map[string]story{
		"SecondRevision": {
			reason: "A second revision succeeds after the first one.", prepares: (*stage).releaseFirst,
			breaks: func(s *stage) { s.releaseReplicas(2, scene.GoodRatio, "Succeeded") }, shows: `revision="2",outcome="Succeeded"`,
		},
		"UserRollsBack": {
			reason: "A user goes back to the first revision.",
			prepares: func(s *stage) {
				s.releaseFirst()
				s.releaseReplicas(2, scene.GoodRatio, "Succeeded")
			},
			breaks: func(s *stage) {
				s.Apply(s.Set(s.Request("back", s.deployment, rolloutv1alpha1.ActionRollbackTo, 2), int64(1), "spec", "toRevision"))
			},
			shows: `phase="Succeeded",outcome="RolledBack",reason="Idle"`,
		},
	}
}

// revisionStories are about outcomes of revisions.
func revisionStories() map[string]story {
	return map[string]story{
		"FirstRevisionFails": {
			reason: "A first revision that the Gate rejects has nothing to go back to.",
			breaks: func(s *stage) {
				s.shop.Set(scene.ErrorRatio, scene.BadRatio)
				s.Apply(s.deployment)
			},
			alerts: []string{"IntentDeploymentFailed"},
		},
		"RolledBack": {
			reason: "A second revision that the Gate rejects is rolled back.", prepares: (*stage).releaseFirst,
			breaks: func(s *stage) { s.releaseReplicas(2, scene.BadRatio, "RolledBack") },
			alerts: []string{"IntentDeploymentRolledBack"},
		},
		"BlueprintMissing": {
			reason: "A deployment that names a Blueprint which is not there waits for a person.",
			breaks: func(s *stage) { s.Apply(s.Set(s.deployment, "next", "spec", "blueprint", "channel")) },
			alerts: []string{"IntentDeploymentStuck"},
		},
		"QueryWithoutData": {
			reason: "A query that gives no data leaves the Gate without a verdict.",
			breaks: func(s *stage) { s.Apply(s.deployment) },
			alerts: []string{"IntentDeploymentWithoutData"},
		},
		"FilesChanged": {
			reason: "A user commits to the files of a deployment, which the provider does not restore.",
			prepares: func(s *stage) {
				s.Set(s.deployment, "Report", "spec", "deliveryConfig", "driftPolicy")
				s.releaseFirst()
			},
			breaks: (*stage).changeFiles, alerts: []string{"IntentDeploymentDrifted"},
		},
	}
}

// surroundingStories are about the dependencies of a deployment, about Crossplane, and about composed resources.
func surroundingStories() map[string]story {
	return map[string]story{
		"PasswordChanged": {
			reason: "The password of the repository is changed, and the provider has the previous password. The state of the deployment is in that repository too.",
			prepares: func(s *stage) {
				s.Apply(s.BasicAuthSecret(password))
				s.GuardRepository(password)
				s.releaseFirst()
			},
			breaks: func(s *stage) {
				s.Apply(s.BasicAuthSecret("wrong"))
				s.Apply(s.Set(s.deployment, s.intentWithReplicas(2), "spec", "intent"))
			},
			alerts: []string{"RepositoryUnreachable", "ConfigurationNotReady", "LedgerUnreachable"},
		},
		"WrittenTooOften": {
			reason: "Another program writes a composed object again and again, until Crossplane stops watching.", prepares: (*stage).releaseFirst,
			breaks: func(s *stage) { s.OpenBreaker(s.deployment) }, alerts: []string{"CompositeNotResponsive"},
		},
		"ClaimWrittenTooOften": {
			reason: "The same happens behind a claim, which has no condition for it.",
			prepares: func(s *stage) {
				s.deployment.SetAPIVersion("claims.intentplane.dev/v1alpha1")
				s.releaseFirst()
			},
			breaks: func(s *stage) { s.OpenBreaker(s.deployment) }, alerts: []string{"CompositeNotResponsive"},
		},
		"ReceiverDown": {
			reason: "A receiver of notifications is down when a revision succeeds.",
			breaks: func(s *stage) {
				s.notifyStoppedReceiver()
				s.releaseFirst()
			},
			alerts: []string{"NotificationsPending"},
		},
		"ApplicationFails": {
			reason: "The first image of an Application is rejected by its Gate, and so is the revision of its deployment.",
			breaks: func(s *stage) {
				s.shop.Set(scene.ErrorRatio, scene.BadRatio)
				s.Apply(s.application())
			},
			alerts: []string{"ApplicationDegraded", "IntentDeploymentFailed"},
		},
	}
}

// installationStories are about the parts that all deployments share.
func installationStories() map[string]story {
	return map[string]story{
		"ProviderGone": {reason: "The provider ends.", breaks: func(*stage) { cp.KillProvider() }, alerts: []string{"IntentplaneProviderGone"}},
		"FunctionGone": {reason: "The function ends.", breaks: func(*stage) { cp.KillFunction() }, alerts: []string{"IntentplaneFunctionGone"}},
		"VersionSkew": {
			reason: "The function is upgraded, and the provider is not.",
			breaks: func(s *stage) { s.Must(cp.UpgradeFunction(s.T.Context(), s.buildFunction("v9.9.9"))) }, alerts: []string{"IntentplaneVersionSkew"},
		},
	}
}

// releaseFirst releases the first revision with success.
func (s *stage) releaseFirst() { s.releaseReplicas(1, scene.GoodRatio, "Succeeded") }

// changeFiles commits to a file of the deployment, as a user does.
func (s *stage) changeFiles() {
	s.T.Helper()
	dir := s.Directory("edge1", "shop")
	changed := map[string]string{}
	for name, content := range s.FilesBelow(dir) {
		if strings.HasPrefix(name, "deployment-") {
			changed[path.Join(dir, name)] = content + "# By hand.\n"
		}
	}
	_, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", changed, "A change by hand")
	s.Must(err)
}

// notifyStoppedReceiver adds a stopped receiver to the configuration of the deployment.
func (s *stage) notifyStoppedReceiver() {
	s.T.Helper()
	r, err := receiver.New(key)
	s.Must(err)
	r.Stop()
	s.NotifyReceiver(r, key, "Succeeded")
	s.UseClusterProviderConfig(s.deployment)
}

// application describes an Application whose Gate measures the ratio of errors.
func (s *stage) application() *unstructured.Unstructured {
	s.T.Helper()
	objects, err := kubernetes.ParseYAML(s.ProjectFile("examples", "blueprints", "app-internal-1.0.0.yaml"))
	s.Must(err)
	s.Apply(objects[0])
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"image": "registry.example.org/shop@sha256:1111111111111111111111111111111111111111111111111111111111111111",
		"deploy": map[string]any{
			"sites":          []any{s.Site("edge1")},
			"deliveryConfig": map[string]any{"gitOpsRepo": map[string]any{"kind": "ProviderConfig", "name": scene.Config}},
			"gatesConfig":    map[string]any{"checks": scene.CheckErrors()},
		},
	}}}
	o.SetAPIVersion("intentplane.dev/v1alpha1")
	o.SetKind("Application")
	o.SetNamespace(s.Namespace)
	o.SetName("shop")
	return o
}
