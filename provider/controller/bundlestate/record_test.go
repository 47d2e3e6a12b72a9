package bundlestate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/listing"
)

// errTest is an error of the API server.
var errTest = errors.New("spec.intent: must be set")

// newBundle returns a BundleState with two packages.
func newBundle() *v1alpha1.BundleState {
	bs := &v1alpha1.BundleState{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "platform"}}
	bs.Spec.ForProvider = v1alpha1.BundleStateParameters{BundleRef: platform, Version: "1.0.0", Packages: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1")}}
	return bs
}

func newConnector(secrets ...*corev1.Secret) *connector {
	c := &connector{clientset: fake.NewClientset(), now: func() time.Time { return now }, memory: newNoteMemory()}
	for _, s := range secrets {
		if err := c.clientset.(*fake.Clientset).Tracker().Add(s); err != nil {
			panic(err)
		}
	}
	return c
}

func decided(status string, packages ...v1alpha1.PackageObservation) *decision {
	return &decision{status: status, packages: packages}
}

func packageIn(name, status, version string) v1alpha1.PackageObservation {
	return v1alpha1.PackageObservation{Name: name, Kind: "IntentDeployment", Status: status, Version: version}
}

// recorded returns the content of the record, as "name status version wanted".
func recorded(t *testing.T, c *connector) []string {
	t.Helper()
	s, err := c.recordsOfNamespace(newBundle()).GetBundleState(t.Context(), "platform")
	if err != nil {
		t.Fatal(err)
	}
	out := []string{string(s.Status)}
	for _, p := range s.PkgStatuses {
		out = append(out, p.Name+" "+string(p.Status)+" "+p.Version+" "+p.WantedVersion)
	}
	return out
}

// TestWriteRecord writes one decision after the other, and none twice.
func TestWriteRecord(t *testing.T) {
	steps := []struct {
		reason string
		of     *decision
		want   []string
	}{
		{
			"A record that was lost is made again, however far the packages are.", decided("deploying", packageIn("shop", "deploying", ""), packageIn("db", "success", "1.d1")),
			[]string{"deploying", "db success 1.d1 ", "shop deploying  1.d1"},
		},
		{
			"A success says which version is deployed.", decided("success", packageIn("shop", "success", "1.d1"), packageIn("db", "success", "1.d1")),
			[]string{"success", "db success 1.d1 ", "shop success 1.d1 "},
		},
		{
			"A package that fails after it was deployed goes by way of deploying.", decided("failed", packageIn("shop", "failed", "1.d0"), packageIn("db", "success", "1.d1")),
			[]string{"failed", "db success 1.d1 ", "shop failed 1.d0 1.d1"},
		},
		{
			"A package that left the bundle is added behind the others.",
			decided("failed", packageIn("shop", "failed", "1.d0"), packageIn("db", "success", "1.d1"), packageIn("old", "unreferenced", "0.9")),
			[]string{"failed", "db success 1.d1 ", "shop failed 1.d0 1.d1", "old unreferenced 0.9 "},
		},
		{
			"A package that left the bundle and is gone leaves the record.", decided("removing", packageIn("shop", "removed", ""), packageIn("db", "removing", "1.d1")),
			[]string{"removing", "db removing 1.d1 ", "shop removed  1.d1"},
		},
		{
			"A package that is gone without a removal by its bundle is removed, too.", decided("removing", packageIn("shop", "removed", ""), packageIn("db", "not_deployed", "")),
			[]string{"removing", "db removed  1.d1", "shop removed  1.d1"},
		},
		{
			"The record stays empty.", decided("removing", packageIn("shop", "not_deployed", ""), packageIn("db", "not_deployed", "")),
			[]string{"removing", "db removed  1.d1", "shop removed  1.d1"},
		},
	}
	c := newConnector()
	for _, step := range steps {
		if isRecorded, err := c.matchesRecord(t.Context(), newBundle(), step.of); isRecorded || err != nil {
			if step.reason != steps[len(steps)-1].reason {
				t.Errorf("\n%s\nisRecorded(...) before the write: %t, %v", step.reason, isRecorded, err)
			}
		}
		if err := c.writeRecord(t.Context(), newBundle(), step.of); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, recorded(t, c)); diff != "" {
			t.Errorf("\n%s\nrecord: -want, +got:\n%s", step.reason, diff)
		}
		if isRecorded, err := c.matchesRecord(t.Context(), newBundle(), step.of); !isRecorded || err != nil {
			t.Errorf("\n%s\nisRecorded(...) after the write: %t, %v", step.reason, isRecorded, err)
		}
	}
}

// TestBrokenRecord finds Secrets that hold no record of the bundle.
func TestBrokenRecord(t *testing.T) {
	secret := func(typ corev1.SecretType, data string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "intentplane-bundle-platform"}, Type: typ, Data: map[string][]byte{"data": []byte(data)}}
	}
	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		want   error

		isRefused bool
	}{
		"Empty": {reason: "A record that is empty is made again.", secret: secret(state.SecretType, "")},
		"Half":  {reason: "A record that is cut off is made again.", secret: secret(state.SecretType, `{"name":"platform","packages":[`)},
		"Newer": {
			reason: "A record of a newer schema is never written.",
			secret: secret(state.SecretType, `{"name":"platform","version":"1","packages":[],"status":"success","schema":99}`), want: state.ErrNewer,
			isRefused: true,
		},
		"Foreign": {
			reason: "The record of another bundle is never written.",
			secret: secret(state.SecretType, `{"name":"other","version":"1","packages":[],"status":"success","schema":1}`), want: state.ErrForeign,
			isRefused: true,
		},
		"Theirs": {reason: "The provider does not write to a Secret that is not a record.", secret: secret(corev1.SecretTypeOpaque, "password"), isRefused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newConnector(tc.secret)
			err := c.writeRecord(t.Context(), newBundle(), decided("deploying", packageIn("shop", "not_deployed", ""), packageIn("db", "deploying", "")))
			if tc.isRefused != (err != nil) || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("\n%s\nwriteRecord(...): want %v, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestRemoveRecord deletes Bundles whose record says more of a package than is there. Nothing depends on it.
func TestRemoveRecord(t *testing.T) {
	requested, objects := newBundle().Spec.ForProvider.Packages, []*object{live("shop", "d1", platform), live("db", "d1", platform)}
	cases := map[string]struct {
		reason string
		before scene
		after  scene
	}{
		"Lost": {
			reason: "A package that a user deleted while the Bundle was suspended holds no deletion back.",
			before: scene{asked: requested, suspended: true, there: objects[1:]}, after: scene{},
		},
		"Orphaned": {
			reason: "Packages that stay, whose deployment the status never reported, hold no deletion back.",
			before: scene{asked: requested, there: objects},
			after:  scene{orphan: true, there: []*object{live("shop", "d1", platform, left), live("db", "d1", platform, left)}},
		},
		"Blocked": {
			reason: "An unreferenced package that cannot be removed does not hold back the deletion of the record.",
			before: scene{asked: requested, there: append(objects, live("old", "d1", platform, left))},
			after:  scene{there: []*object{live("old", "d1", platform, left, stuck)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, bs := newConnector(), newBundle()
			deployed := decideBundle(scene{asked: requested, there: objects}.facts())
			removal := decideBundle(tc.before.facts())
			for _, d := range []*decision{&deployed, &removal} {
				if err := c.writeRecord(t.Context(), bs, d); err != nil {
					t.Fatal(err)
				}
			}
			tc.after.asked, tc.after.deleted, tc.after.was = requested, true, removal.packages
			if name == "Orphaned" {
				tc.after.was = nil
			}
			e := &external{connector: c, note: &note{}, decision: decideBundle(tc.after.facts())}
			if e.decision.remains || len(e.decision.actions) > 0 {
				t.Fatalf("%s\nThe decision still has actions: %v", tc.reason, describe(e.decision))
			}
			if _, err := e.Delete(t.Context(), bs); err != nil || e.isRecordLeft(t.Context(), bs) {
				t.Errorf("\n%s\nDelete(...): %v, and the record is left: %t", tc.reason, err, e.isRecordLeft(t.Context(), bs))
			}
		})
	}
}

// TestFindRecordUsers looks for users of a package that is to be removed, beside records that cannot be read.
func TestFindRecordUsers(t *testing.T) {
	secret := func(name, data string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Type: state.SecretType, Data: map[string][]byte{"data": []byte(data)}}
	}
	const user = `{"name":"platform","version":"1","packages":[{"name":"db","version":"1","status":"success"}],"status":"success","schema":1}`
	cases := map[string]struct {
		reason    string
		secret    *corev1.Secret
		forbidden bool
		users     int
		isUnread  bool
	}{
		"Own": {reason: "The Bundle's own record does not name a user, even if it is unreadable.", secret: secret("intentplane-bundle-platform", "{")},
		"Neighbour": {
			reason: "The record of another Bundle in this cluster does not name a user, even if it is unreadable.",
			secret: secret("intentplane-bundle-other.ns", "{"),
		},
		"Theirs":    {reason: "The record of another program could name the package.", secret: secret("their-platform", "{"), isUnread: true},
		"SameName":  {reason: "A record of another program counts under the name of a Bundle, too.", secret: secret("their-platform", user), users: 1},
		"Forbidden": {reason: "Without the right to list records others go on.", secret: secret("any", user), forbidden: true, isUnread: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, f := newConnector(tc.secret), scene{deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)}}.facts()
			f.records, f.recordUsers, f.unread = map[string]bool{"platform": true, "other.ns": true}, map[string][]string{}, map[string]error{}
			if tc.forbidden {
				c.clientset.(*fake.Clientset).PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, kerrors.NewForbidden(corev1.Resource("secrets"), "", errTest)
				})
			}
			if err := c.findRecordUsers(t.Context(), f, newBundle()); err != nil || len(f.recordUsers["db"]) != tc.users || (f.unread["db"] != nil) != tc.isUnread {
				t.Errorf("\n%s\nfindRecordUsers(...): %v, users %v, unread %v", tc.reason, err, f.recordUsers, f.unread)
			}
		})
	}
}

// TestRecordsHaveTheirTurn looks for users of a package while lists of the namespace have all of its pages.
func TestRecordsHaveTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		end := make(chan struct{})
		for range 10 {
			go func() {
				_, _ = listing.ReadPage(t.Context(), "team-a", func(context.Context) error { <-end; return nil })
			}()
		}
		synctest.Wait()
		c, f := newConnector(), scene{deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)}}.facts()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.findRecordUsers(ctx, f, newBundle()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("\nRecords are read page by page, each in the turn of the namespace.\nfindRecordUsers(...): want %v, got %v", context.DeadlineExceeded, err)
		}
		close(end)
		synctest.Wait()
	})
}

// TestStatusWhileDeleted lets a deletion wait, and has nothing to write meanwhile.
func TestStatusWhileDeleted(t *testing.T) {
	bs := newBundle()
	bs.DeletionTimestamp, bs.Generation = &metav1.Time{Time: now}, 3
	e := &external{connector: newConnector(), note: &note{}, decision: *decided("removing", packageIn("db", "removing", "1.d1"))}
	bs.Status.AtProvider = e.observation(bs, nil)
	bs.SetConditions(xpv2.Deleting().WithObservedGeneration(3))
	if e.updateStatus(bs, nil); !e.note.pendingSince.IsZero() {
		t.Errorf("A deletion that waits changes the status: %+v", e.currentCondition(bs))
	}
}
