package compile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

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
		// want says whether the digest of the request, and that of the intent, stay.
		want [2]bool
	}{
		"Same":          {reason: "The same input has the same digests.", change: func(*args) {}, want: [2]bool{true, true}},
		"Intent":        {reason: "Another intent is another request.", change: func(a *args) { a.intent = "b" }},
		"Form":          {reason: "The same intent in another form is the same request.", change: func(a *args) { t := "text"; a.spec.Intent = &t }, want: [2]bool{true, true}},
		"Gates":         {reason: "Gates are part of the intent.", change: func(a *args) { a.spec.GatesConfig.Enabled = &no }},
		"SiteSelection": {reason: "The selection of Sites is part of the intent.", change: func(a *args) { a.spec.DeliveryConfig.TargetSite = "all" }},
		"BlueprintName": {reason: "The choice of the Blueprint is part of the intent.", change: func(a *args) { a.spec.Blueprint.Channel = "beta" }},
		"Rollback":      {reason: "Rollback policy decides nothing about delivery.", change: func(a *args) { a.spec.RollbackConfig.AutoRollback = &no; a.spec.RollbackConfig.MaxRetries = &zero }, want: [2]bool{true, true}},
		"Timeouts":      {reason: "Timeouts decide nothing about delivery.", change: func(a *args) { a.spec.DeliveryConfig.SyncWaitTimeout = "1h"; a.spec.CompileConfig.RenderTimeout = "1s" }, want: [2]bool{true, true}},
		"Deletion": {
			reason: "The deletion policy decides nothing about delivery.",
			change: func(a *args) { a.spec.DeliveryConfig.DeletionPolicy = deploymentv1alpha1.DeletionOrphan }, want: [2]bool{true, true},
		},
		"Suspend": {reason: "Suspend decides nothing about delivery.", change: func(a *args) { yes := true; a.spec.Suspend = &yes }, want: [2]bool{true, true}},
		"Blueprint": {
			reason: "A new version of the Blueprint is a new request for the same intent.",
			change: func(a *args) { a.blueprint = "2" }, want: [2]bool{false, true},
		},
		"Renderer": {reason: "A new renderer is a new request for the same intent.", change: func(a *args) { a.renderer = 2 }, want: [2]bool{false, true}},
		"MoreSites": {
			reason: "Another Site is a new request for the same intent.",
			change: func(a *args) { a.selection.Places = append(a.selection.Places, place("edge2")) }, want: [2]bool{false, true},
		},
		"Branch": {
			reason: "Another branch is a new request for the same intent.",
			change: func(a *args) { a.selection.Places[0].Config.Git.Branch = "b" }, want: [2]bool{false, true},
		},
		"Path": {
			reason: "Another directory is a new request for the same intent.",
			change: func(a *args) { a.selection.Places[0].Path = "y" }, want: [2]bool{false, true},
		},
		"Config": {
			reason: "Another configuration is a new request for the same intent.",
			change: func(a *args) { a.selection.Places[0].ConfigRef.Name = "other" }, want: [2]bool{false, true},
		},
		"Repository": {
			reason: "Another repository is a new request for the same intent.",
			change: func(a *args) { a.selection.Places[0].Repository = "https://b/c" }, want: [2]bool{false, true},
		},
		"Exact": {reason: "The objects for a Site whose engine takes exact objects have an annotation.", change: func(a *args) {
			a.selection.Places[0].Site.Spec.Engine.Type = catalogv1alpha1.EngineFlux
		}, want: [2]bool{false, true}},
		"Variables": {reason: "The variables of a Blueprint are in its digest: a Site that had them before did not change.", change: func(a *args) {
			a.selection.Blueprint.Spec.Files = map[string]catalogv1alpha1.File{"a.yaml": "a: ${HOST}"}
		}, want: [2]bool{true, true}},
		"SiteParameters": {reason: "Other parameters of a Site are a new request for the same intent.", change: func(a *args) {
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
			equalities := [2]bool{want.Digest() == got.Digest(), want.Intent == got.Intent}
			if diff := cmp.Diff(tc.want, equalities); diff != "" {
				t.Errorf("\n%s\nNewRequest(...): same digests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
