package rollout

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

func order(revision int64, request string) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{
		Revision: revision, Request: request, Intent: "intent-" + request, DigestScheme: digest.Scheme, RendererVersion: 1,
		Plan: []rolloutv1alpha1.Step{{Sites: []string{"edge1"}}}, Steps: 1,
	}
}

func changed(o rolloutv1alpha1.Order, change func(*rolloutv1alpha1.Order)) rolloutv1alpha1.Order {
	change(&o)
	return o
}

func delivery(spec rolloutv1alpha1.Order, status *rolloutv1alpha1.Order) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ForProvider.Order = spec
	d.Status.AtProvider.Order = status
	return d
}

func wish(request string) Request {
	return Request{Digest: request, Intent: "intent-" + request, RendererVersion: 1, Plan: []rolloutv1alpha1.Step{{Sites: []string{"edge1"}}}}
}

// TestOrders reads an order back and decides on the next one, as a call does.
func TestOrders(t *testing.T) {
	one, two := order(1, "a"), order(2, "b")
	seven := order(7, "a")
	tombstone := rolloutv1alpha1.Order{Revision: 7, Request: "tombstone", DigestScheme: 1, RendererVersion: 1, Steps: 1}
	newer := changed(two, func(o *rolloutv1alpha1.Order) { o.RendererVersion = 2 })
	scheme := changed(two, func(o *rolloutv1alpha1.Order) { o.DigestScheme = digest.Scheme + 1 })
	named := changed(one, func(o *rolloutv1alpha1.Order) { o.Blueprint = &rolloutv1alpha1.BlueprintReference{Name: "web-1.0.0"} })
	bad := changed(order(2, "c"), func(o *rolloutv1alpha1.Order) {
		o.Verdict = &rolloutv1alpha1.Verdict{Result: "Rejected", Reason: "GateFailed"}
	})
	again := changed(order(3, "c2"), func(o *rolloutv1alpha1.Order) { o.Intent = bad.Intent })
	asked := changed(again, func(o *rolloutv1alpha1.Order) {
		o.RequestRef = &rolloutv1alpha1.RequestReference{Name: "retry", UID: "u"}
	})
	content := func(request string) Request { r := wish(request); r.Intent = bad.Intent; return r }
	old := changed(two, func(o *rolloutv1alpha1.Order) { o.RendererVersion = 0 })
	cases := map[string]struct {
		reason    string
		observed  []*deliveryv1alpha1.GitDelivery
		request   Request
		unchanged bool
		want      rolloutv1alpha1.Order
	}{
		"Nothing":        {reason: "The first revision is 1.", request: wish("a"), want: one},
		"SameRequest":    {reason: "The same request keeps its revision.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &one)}, request: wish("a"), want: one},
		"NotCarriedOut":  {reason: "Also when it was not carried out yet.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, nil)}, request: wish("a"), want: one},
		"Changed":        {reason: "Another request is the next revision.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &one)}, request: wish("b"), want: two},
		"ChangedInHaste": {reason: "Also while the last one goes on.", observed: []*deliveryv1alpha1.GitDelivery{delivery(two, &one)}, request: wish("c"), want: order(3, "c")},
		"Back": {
			reason:   "Content that was delivered before is a new revision.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(two, &two)}, request: wish("a"), want: order(3, "a"),
		},
		"HalfApplied": {
			reason:   "The highest revision wins, whichever delivery has it.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &one), delivery(two, &one)}, request: wish("b"), want: two,
		},
		"VersionsOnly": {
			reason:   "A change of versions that leaves all trees equal is no new revision.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(old, &old)},
			request:  Request{Digest: "other", Intent: two.Intent, RendererVersion: 1, Plan: two.Plan}, unchanged: true, want: old,
		},
		"VersionsAndTrees": {
			reason:   "A change of versions that changes a tree is one.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(old, &old)},
			request:  Request{Digest: "other", Intent: two.Intent, RendererVersion: 1, Plan: two.Plan},
			want:     changed(order(3, "other"), func(o *rolloutv1alpha1.Order) { o.Intent = two.Intent }),
		},
		"IntentOnly": {
			reason:   "A change of the intent is a new revision, also with equal trees.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &one)}, request: wish("b"), unchanged: true, want: two,
		},
		"NewerRenderer": {reason: "An older renderer never replaces the order of a newer one.", observed: []*deliveryv1alpha1.GitDelivery{delivery(newer, &newer)}, request: wish("c"), want: newer},
		"NewerScheme":   {reason: "Nor does an older scheme of digests.", observed: []*deliveryv1alpha1.GitDelivery{delivery(scheme, &scheme)}, request: wish("c"), want: scheme},
		"Named":         {reason: "Of two that differ in that, the one that names its Blueprint counts.", observed: []*deliveryv1alpha1.GitDelivery{delivery(named, &one), delivery(one, &one)}, request: wish("a"), want: named},
		"NewerInGit":    {reason: "Also when only Git remembers it.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &newer)}, request: wish("a"), want: newer},
		"Lost": {
			reason:   "A lost object is asked for revision 1, and its status tells from Git that it was at 7.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &seven)}, request: wish("a"), want: seven,
		},
		"LostAndChanged": {reason: "The numbers go on from there.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &seven)}, request: wish("b"), want: order(8, "b")},
		"Tombstone":      {reason: "A deployment of a deleted one's name goes on counting.", observed: []*deliveryv1alpha1.GitDelivery{delivery(one, &tombstone)}, request: wish("a"), want: order(8, "a")},
		"Conflict": {
			reason:   "Two requests under one number: neither keeps it.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(order(2, "a"), &two)}, request: wish("a"), want: order(3, "a"),
		},
		"ConflictOfTwo": {
			reason:   "Also in two deliveries.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(order(2, "a"), nil), delivery(two, nil)}, request: wish("b"), want: order(3, "b"),
		},
		"ConflictWithNewer": {
			reason:   "A conflict with an order of a newer renderer is for that one to solve, in whatever order they are found.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(order(2, "z"), nil), delivery(newer, nil)}, request: wish("z"), want: newer,
		},
		"Revived": {
			reason:   "An order of what the repository rejected before is none: somebody read old objects.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(again, &bad)}, request: content("c2"), want: bad,
		},
		"RevivedElsewhere": {
			reason:   "Where another repository took it, it is rejected too.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(again, &bad), delivery(again, &again)}, request: content("c2"),
			want: changed(again, func(o *rolloutv1alpha1.Order) { o.Verdict = bad.Verdict }),
		},
		"RevivedOnPurpose": {
			reason:   "A person may ask for it.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(asked, &bad)}, request: content("c2"), want: asked,
		},
		"OldConflict": {
			reason:   "Numbers below the highest one do not matter.",
			observed: []*deliveryv1alpha1.GitDelivery{delivery(order(1, "x"), &one), delivery(two, nil)}, request: wish("b"), want: two,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				current, conflict := Current(tc.observed)
				got, _ := Next(current, conflict, Wish{Request: tc.request, Unchanged: tc.unchanged})
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nNext(Current(...)): -want, +got:\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.observed)
			}
		})
	}
}

// TestUntold changes one thing at a time about another request for the same intent, while a repository did not tell what it remembers.
func TestUntold(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rolloutv1alpha1.Order, *Wish)
		want   int64
	}{
		"Untold":   {reason: "It keeps its number, under which it may have been rejected.", change: func(*rolloutv1alpha1.Order, *Wish) {}, want: 1},
		"Told":     {reason: "It is known that it was not.", change: func(_ *rolloutv1alpha1.Order, w *Wish) { w.Untold = false }, want: 2},
		"Intent":   {reason: "Another intent was not rejected under that number.", change: func(_ *rolloutv1alpha1.Order, w *Wish) { w.Request.Intent = "x" }, want: 2},
		"Verified": {reason: "It was judged.", change: func(o *rolloutv1alpha1.Order, _ *Wish) { o.Verdict = verified }, want: 2},
		"Asked":    {reason: "A person asks for it.", change: func(_ *rolloutv1alpha1.Order, w *Wish) { w.Approved = &rolloutv1alpha1.RequestReference{UID: "u"} }, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, w := order(1, "a"), Wish{Request: wish("b"), Untold: true}
			w.Request.Intent = o.Intent
			tc.change(&o, &w)
			for _, conflict := range []bool{false, true} {
				got, _ := Next(&o, conflict, w)
				if got.Revision != tc.want || got.Request != "b" {
					t.Errorf("\n%s\nNext(...): want revision %d of b, got %d of %s", tc.reason, tc.want, got.Revision, got.Request)
				}
			}
		})
	}
}

func TestNewRequest(t *testing.T) {
	place := func(name string) catalog.Place {
		p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: "ClusterProviderConfig", Name: "default"}, Path: "x/" + name}
		p.Site.SetName(name)
		p.Config.Git.Branch = "main"
		return p
	}
	type args struct {
		spec      deploymentv1alpha1.IntentDeploymentSpec
		intent    string
		selection catalog.Selection
		blueprint string
		renderer  int32
	}
	no, zero := false, int32(0)
	cases := map[string]struct {
		reason string
		change func(*args)
		// Whether the digest of the request, and that of the intent, stay.
		want [2]bool
	}{
		"Same":          {reason: "Nothing changed.", change: func(*args) {}, want: [2]bool{true, true}},
		"Intent":        {reason: "Another intent.", change: func(a *args) { a.intent = "b" }},
		"Form":          {reason: "The same intent in another form.", change: func(a *args) { t := "text"; a.spec.Intent = &t }, want: [2]bool{true, true}},
		"Gates":         {reason: "How it is judged.", change: func(a *args) { a.spec.GatesConfig.Enabled = &no }},
		"SiteSelection": {reason: "How Sites are chosen.", change: func(a *args) { a.spec.DeliveryConfig.TargetSite = "all" }},
		"BlueprintName": {reason: "Which Blueprint is chosen.", change: func(a *args) { a.spec.Blueprint.Channel = "beta" }},
		"Rollback":      {reason: "Rollback policy decides nothing about delivery.", change: func(a *args) { a.spec.RollbackConfig.AutoRollback = &no; a.spec.RollbackConfig.MaxRetries = &zero }, want: [2]bool{true, true}},
		"Timeouts":      {reason: "Nor do timeouts.", change: func(a *args) { a.spec.DeliveryConfig.SyncWaitTimeout = "1h"; a.spec.CompileConfig.RenderTimeout = "1s" }, want: [2]bool{true, true}},
		"Deletion":      {reason: "Nor does the deletion policy.", change: func(a *args) { a.spec.DeliveryConfig.DeletionPolicy = deploymentv1alpha1.DeletionOrphan }, want: [2]bool{true, true}},
		"Suspend":       {reason: "Nor does suspend.", change: func(a *args) { yes := true; a.spec.Suspend = &yes }, want: [2]bool{true, true}},
		"Blueprint":     {reason: "A new version of the Blueprint is a new request for the same intent.", change: func(a *args) { a.blueprint = "2" }, want: [2]bool{false, true}},
		"Renderer":      {reason: "So is a new renderer.", change: func(a *args) { a.renderer = 2 }, want: [2]bool{false, true}},
		"MoreSites":     {reason: "So is another Site.", change: func(a *args) { a.selection.Places = append(a.selection.Places, place("edge2")) }, want: [2]bool{false, true}},
		"Branch":        {reason: "So is another branch.", change: func(a *args) { a.selection.Places[0].Config.Git.Branch = "b" }, want: [2]bool{false, true}},
		"Path":          {reason: "So is another directory.", change: func(a *args) { a.selection.Places[0].Path = "y" }, want: [2]bool{false, true}},
		"Config":        {reason: "So is another configuration.", change: func(a *args) { a.selection.Places[0].ConfigRef.Name = "other" }, want: [2]bool{false, true}},
		"Repository":    {reason: "Another repository is a new request for the same intent.", change: func(a *args) { a.selection.Places[0].Repository = "https://b/c" }, want: [2]bool{false, true}},
		"SiteParameters": {reason: "So are other parameters of a Site.", change: func(a *args) {
			a.selection.Places[0].Site.Spec.Parameters = map[string]catalogv1alpha1.ParameterValue{"a": "b"}
		}, want: [2]bool{false, true}},
	}
	digests := func(a args) Request {
		a.spec.Default()
		r, err := NewRequest(a.spec, a.intent, &a.selection, a.blueprint, a.renderer)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	fresh := func() args {
		return args{intent: "a", selection: catalog.Selection{Places: []catalog.Place{place("edge1")}}, blueprint: "1", renderer: 1}
	}
	want := digests(fresh())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := fresh()
			tc.change(&a)
			got := digests(a)
			same := [2]bool{want.Digest == got.Digest, want.Intent == got.Intent}
			if diff := cmp.Diff(tc.want, same); diff != "" {
				t.Errorf("\n%s\nNewRequest(...): same digests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
