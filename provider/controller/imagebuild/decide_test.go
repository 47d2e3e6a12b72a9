package imagebuild

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/provider/sources"
)

// TestConfigurationAfterFailure has a configuration that names another builder, or another service account, after a failed Build, which kpack
// ignores. The spec of the Application is the same.
func TestConfigurationAfterFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*configv1alpha1.Build)
		asked  bool
	}{
		"Builder": {reason: "A failed Build is made again with another builder.", edit: func(c *configv1alpha1.Build) { c.Builder.Name = "fixed" }, asked: true},
		"Account": {
			reason: "A failed Build is made again with another service account.",
			edit:   func(c *configv1alpha1.Build) { c.ServiceAccountName = "fixed" }, asked: true,
		},
		"Hosts": {
			reason: "A failed Build is not made again for a host that its source may be at.",
			edit:   func(c *configv1alpha1.Build) { c.SourceHosts = []string{"127.0.0.1"} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			w.fails(1, "prepare", "analyze", "detect", "restore", "build")
			w.expect("A step export that fails is tried again", "Retrying")
			w.wait(30 * time.Second)
			w.reconcile()
			w.fails(2, "prepare", "analyze", "detect", "restore", "build")
			w.expect("No retry is left", "BuildDisrupted")
			w.wait(time.Minute)
			w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { tc.edit(c.Build) })
			w.reconcile()
			w.fails(2, "prepare", "analyze", "detect", "restore", "build")
			w.reconcileShown()
			if kpack.IsAskedAgain(w.build(2)) != tc.asked {
				t.Fatalf("\n%s\n%v", tc.reason, w.get().GetCondition("Ready"))
			}
			if !tc.asked {
				return
			}
			w.fails(3, "prepare", "analyze", "detect", "restore", "build")
			w.expect("The failures with the previous builder do not count as attempts of this builder", "Retrying")
			w.fails(4, "prepare", "analyze", "detect", "restore")
			w.expect("A Build that fails in the end has the status failed", "BuildFailed")
			w.wait(time.Hour)
			if w.reconcile(); kpack.IsAskedAgain(w.build(4)) {
				t.Error("kpack gets another request although the builder is the desired builder")
			}
		})
	}
}

// TestAnsweredLook has a request for a look, which is answered by a look, and by the reason why there can be none.
func TestAnsweredLook(t *testing.T) {
	found := &sources.Answer{Commit: strings.Repeat("ab", 20)}
	cases := map[string]struct {
		reason  string
		facts   facts
		archive bool
		lookNow string
		trouble xpv2.ConditionReason
	}{
		"Looked": {reason: "A look that was made answers.", facts: facts{found: found, isLookDone: true}, lookNow: "now"},
		"Down": {
			reason: "A look that failed answers with its reason.",
			facts:  facts{found: &sources.Answer{Err: errors.New("down")}, isLookDone: true}, lookNow: "now",
			trouble: v1alpha1.ReasonSourceUnreachable,
		},
		"Earlier": {reason: "A look from before the request answers nothing.", facts: facts{found: found}, lookNow: "before"},
		"Pending": {reason: "A look that was not made yet answers nothing.", lookNow: "before"},
		"Archive": {reason: "An archive is never looked at.", archive: true, lookNow: "now"},
		"Denied": {
			reason: "A source that the configuration refuses is not looked at.", facts: facts{refused: &problem{reason: v1alpha1.ReasonPolicyDenied, message: "no"}},
			lookNow: "now", trouble: v1alpha1.ReasonPolicyDenied,
		},
		"DeniedArchive": {
			reason: "The status names an archive that the configuration refuses.",
			facts:  facts{refused: &problem{reason: v1alpha1.ReasonPolicyDenied, message: "no"}}, archive: true,
			lookNow: "now", trouble: v1alpha1.ReasonPolicyDenied,
		},
		"NoConfig": {
			reason: "Without its configuration nothing is looked at.", facts: facts{refused: &problem{reason: v1alpha1.ReasonConfigurationMissing, message: "no"}},
			lookNow: "now", trouble: v1alpha1.ReasonConfigurationMissing,
		},
		"NoSecret": {
			reason: "A Secret that does not exist is the answer.", facts: facts{secretProblem: &problem{reason: v1alpha1.ReasonCredentialsGone, message: "no"}},
			lookNow: "now", trouble: v1alpha1.ReasonCredentialsGone,
		},
		"BadSecret": {
			reason: "A Secret that cannot be used is the answer.", facts: facts{secretProblem: &problem{reason: v1alpha1.ReasonSourceDenied, message: "no"}},
			lookNow: "now", trouble: v1alpha1.ReasonSourceDenied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := tc.facts
			f.last, f.lookNow = v1alpha1.ImageBuildObservation{LookNow: "before"}, "now"
			f.spec.Source.Git = &v1alpha1.GitSource{URL: "https://git.example.org/shop.git", Revision: "main"}
			if tc.archive {
				f.spec.Source = v1alpha1.Source{Blob: &v1alpha1.BlobSource{URL: "https://files.example.org/shop.tgz"}}
			}
			got := decideBuild(&f).next
			if got.LookNow != tc.lookNow || got.SourceTrouble.Reason != string(tc.trouble) {
				t.Errorf("\n%s\ndecideBuild(...): want %q and %q, got %q and %+v", tc.reason, tc.lookNow, tc.trouble, got.LookNow, got.SourceTrouble)
			}
		})
	}
}
