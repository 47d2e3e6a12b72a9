package prune

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestDirectoryRules(t *testing.T) {
	living := func(change func(*Living)) func(*Facts) {
		return func(f *Facts) {
			l := Living{Kind: "GitDelivery", Namespace: "team-a", Name: "d"}
			change(&l)
			f.Living = append(f.Living, l)
		}
	}
	mark := func(controlPlane, uid, namespace, name string) func(*Facts) {
		return func(f *Facts) { f.Directories[0].Marker = markerOf(t, controlPlane, uid, namespace, name) }
	}
	object := func(kind string) func(*Facts) {
		return func(f *Facts) {
			f.Directories[0].Objects = append(f.Directories[0].Objects, Object{Kind: kind, Name: "data"})
		}
	}
	system := func(change func(*Facts)) func(*Facts) {
		return func(f *Facts) { f.Namespace, f.Namespaces = f.SystemNamespace, []string{"team-a"}; change(f) }
	}
	const path = "clusters/edge1/team-a/app-0"
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   string
	}{
		"Orphan":   {reason: "A directory of ours without an owner goes.", change: func(*Facts) {}, want: "app-0 Prune"},
		"NoMarker": {reason: "A directory without a marker is not ours.", change: func(f *Facts) { f.Directories[0].Marker = nil }, want: "Keep NotOurs"},
		"Malformed": {
			reason: "A directory with a malformed marker is not ours.",
			change: func(f *Facts) { f.Directories[0].Marker = []byte("{") }, want: "Keep NotOurs",
		},
		"LongMarker": {
			reason: "A marker with too many bytes is invalid.",
			change: func(f *Facts) { f.Directories[0].Marker = append(f.Directories[0].Marker, make([]byte, 5000)...) }, want: "Keep NotOurs",
		},
		"Above": {
			reason: "A directory above another directory would take that along.",
			change: system(func(f *Facts) { f.Directories = append(f.Directories, Directory{Path: path + "/x/y"}) }),
			want:   "Keep NotOurs, app-0 Keep NotOurs",
		},
		"AboveHidden": {
			reason: "A directory above a directory of another namespace stays, and the other directory is not shown.",
			change: func(f *Facts) { f.Directories = append(f.Directories, Directory{Path: path + "/x/y"}) }, want: "app-0 Keep NotOurs",
		},
		"Below": {
			reason: "A directory inside of another claim's is part of that.",
			change: system(func(f *Facts) { f.Directories = append(f.Directories, Directory{Path: "clusters/edge1"}) }),
			want:   "Keep NotOurs, app-0 Keep NotOurs",
		},
		"Beside": {
			reason: "A directory whose name begins alike is another directory.",
			change: func(f *Facts) { f.Directories = append(f.Directories, Directory{Path: path + "-x"}) }, want: "app-0 Prune, Keep NotOurs",
		},
		"Other": {
			reason: "A directory of another control plane is pruned there.",
			change: mark("other", ourUID, "team-a", "app-0"), want: "app-0 Keep OwnedElsewhere",
		},
		"Lost": {
			reason: "A directory of a lost cluster stays until its UID is named.",
			change: mark("prod", lostUID, "team-a", "app-0"), want: "app-0 Keep OwnedElsewhere",
		},
		"NoUID": {
			reason: "A marker without a UID is not that of a cluster that nothing names.",
			change: mark("prod", "", "team-a", "app-0"), want: "app-0 Keep OwnedElsewhere",
		},
		"TakenOver": {reason: "A directory of a lost cluster goes when its UID is named.", change: func(f *Facts) { mark("prod", lostUID, "team-a", "app-0")(f); f.Repository.TakeOverFrom = lostUID }, want: "app-0 Prune"},
		"TakenBy":   {reason: "Taking over one cluster takes over no other cluster.", change: func(f *Facts) { mark("prod", "uid-7", "team-a", "app-0")(f); f.Repository.TakeOverFrom = lostUID }, want: "app-0 Keep OwnedElsewhere"},
		"TakenName": {reason: "A cluster of another name cannot be taken over.", change: func(f *Facts) { mark("other", lostUID, "team-a", "app-0")(f); f.Repository.TakeOverFrom = lostUID }, want: "app-0 Keep OwnedElsewhere"},
		"Namespace": {
			reason: "A directory of another namespace is that tenant's.",
			change: system(mark("prod", ourUID, "team-b", "app-0")), want: "app-0 Keep NotYourNamespace",
		},
		"Hidden": {reason: "A tenant does not see a directory of another namespace.", change: mark("prod", ourUID, "team-b", "app-0"), want: ""},
		"HiddenPath": {reason: "A tenant does not see directories without a marker where another namespace has its directories.", change: func(f *Facts) {
			f.Directories[0].Path, f.Directories[0].Marker = "clusters/edge1/team-b/app-0", nil
		}, want: ""},
		"ClaimLives": {reason: "A claim of the name uses it, in either shape.", change: living(func(l *Living) {
			l.Claim = rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Namespace: "team-a", Name: "app-0"}
		}), want: "app-0 Keep InUse"},
		"OtherClaim": {
			reason: "A claim of the name in another namespace does not use it.",
			change: living(func(l *Living) { l.Claim = rolloutv1alpha1.ClaimReference{Namespace: "team-b", Name: "app-0"} }), want: "app-0 Prune",
		},
		"Delivered": {
			reason: "A delivery that names the directory uses it, whatever its claim.",
			change: living(func(l *Living) { l.Paths = []string{path} }), want: "app-0 Keep InUse",
		},
		"DeliveredIn": {
			reason: "A delivery that names a directory below it uses it.",
			change: living(func(l *Living) { l.Paths = []string{path + "/x"} }), want: "app-0 Keep InUse",
		},
		"DeliveredOn": {
			reason: "A delivery that names a directory above it uses it.",
			change: living(func(l *Living) { l.Paths = []string{"clusters/edge1"} }), want: "app-0 Keep InUse",
		},
		"OtherSpace": {
			reason: "An entry of the state for a claim in another namespace does not count for this claim.",
			change: func(f *Facts) { f.Repository.Entries[0].Namespace = "team-b" }, want: "app-0 Keep Unremembered",
		},
		"Elsewhere": {
			reason: "A delivery that names a directory beside it does not use it.",
			change: living(func(l *Living) { l.Paths = []string{path + "x"} }), want: "app-0 Prune",
		},
		"Deleting": {
			reason: "A delivery that is being deleted removes it itself.",
			change: living(func(l *Living) { l.Paths, l.Deleting = []string{path}, true }), want: "app-0 Keep Deleting",
		},
		"Pinned": {
			reason: "A label keeps it.",
			change: living(func(l *Living) { l.Paths, l.Pinned, l.Deleting = []string{path}, true, true }), want: "app-0 Keep Pinned",
		},
		"NoEntry": {
			reason: "A directory that the state does not have may be a copy that a user made.",
			change: func(f *Facts) { f.Repository.Entries = nil }, want: "app-0 Keep Unremembered",
		},
		"OtherEntry": {
			reason: "An entry of the state for another claim does not count for this claim.",
			change: func(f *Facts) { f.Repository.Entries[0].Name = "app-9" }, want: "app-0 Keep Unremembered",
		},
		"Changed": {
			reason: "A directory that an unmanaged commit changed has a file of a user.",
			change: func(f *Facts) { f.Directories[0].Tree = "other" }, want: "app-0 Keep Changed",
		},
		"NoTree": {
			reason: "An unknown tree is not the remembered tree.",
			change: func(f *Facts) { f.Directories[0].Tree, f.Repository.Entries[0].Tree = "", "" }, want: "app-0 Keep Changed",
		},
		"Young": {
			reason: "A directory that was delivered just now may still get its claim.",
			change: func(f *Facts) { f.Repository.Entries[0].At = now.Add(-time.Hour + time.Second) }, want: "app-0 Keep TooYoung",
		},
		"OldEnough": {
			reason: "A directory of exactly minAge is old enough.",
			change: func(f *Facts) { f.Repository.Entries[0].At = now.Add(-time.Hour) }, want: "app-0 Prune",
		},
		"Undated": {
			reason: "A directory without a date is not old.",
			change: func(f *Facts) { f.Repository.Entries[0].At = time.Time{} }, want: "app-0 Keep TooYoung",
		},
		"Future": {
			reason: "A date in the future is not old, also without minAge.",
			change: func(f *Facts) { f.MinAge, f.Repository.Entries[0].At = 0, now.Add(time.Second) }, want: "app-0 Keep TooYoung",
		},
		"Volume":      {reason: "A volume cannot be made again.", change: object("PersistentVolumeClaim"), want: "app-0 Keep Stateful"},
		"StatefulSet": {reason: "A StatefulSet has volumes.", change: object("StatefulSet"), want: "app-0 Keep Stateful"},
		"Definition":  {reason: "A definition takes all of its objects along.", change: object("CustomResourceDefinition"), want: "app-0 Keep Stateful"},
		"NamespaceIn": {reason: "A namespace takes all that is in it along.", change: object("Namespace"), want: "app-0 Keep Stateful"},
		"Blueprint": {
			reason: "Objects that the Blueprint marks cannot be recreated.",
			change: func(f *Facts) { f.Directories[0].Objects[0].Irreversible = true }, want: "app-0 Keep Stateful",
		},
		"Unread":  {reason: "Files that cannot be read may be volumes.", change: func(f *Facts) { f.Directories[0].Unread = true }, want: "app-0 Keep Stateful"},
		"Allowed": {reason: "A user may allow that volumes go.", change: func(f *Facts) { object("PersistentVolumeClaim")(f); f.AllowStateful = true }, want: "app-0 Prune"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := orphans(t, 1)
			tc.change(f)
			p := planOf(t, f)
			if diff := cmp.Diff(tc.want, summarise(&p)); diff != "" {
				t.Errorf("\n%s\nMakePlan(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, i := range p.Items {
				if (i.Message == "") != (i.Verdict == VerdictPrune) {
					t.Errorf("\n%s\nan item is %s with message %q", tc.reason, i.Verdict, i.Message)
				}
			}
		})
	}
}
