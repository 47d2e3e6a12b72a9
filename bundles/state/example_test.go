package state_test

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/intentplane/intentplane/bundles/state"
)

// deployPlatform deploys a bundle with a program of one's own, and keeps its record.
func deployPlatform(ctx context.Context, kube kubernetes.Interface, deploy func(pkg state.Package) error) error {
	records, err := state.NewClient(kube, state.Options{Namespace: "team-a", Writer: "deployer/host-1"})
	if err != nil {
		return err
	}
	bundle := state.Bundle{Name: "platform", Version: "1.4.0", Packages: []state.Package{
		{Name: "postgres", Version: "1.2.0"},
		{Name: "shop", Version: "3.0.1", DependsOn: []string{"postgres"}},
	}}
	if _, err := records.InitBundleState(ctx, bundle, state.Deploying); err != nil {
		return err
	}
	for _, pkg := range bundle.Packages {
		if err := records.UpdateBundlePkgState(ctx, bundle.Name, pkg.Name, state.Deploying); err != nil {
			return err
		}
		result, message := state.Success, ""
		if err := deploy(pkg); err != nil {
			result, message = state.Failed, err.Error()
		}
		err := records.UpdateBundlePkgState(ctx, bundle.Name, pkg.Name, result, func(p *state.PkgStatus) {
			p.Message = message
			if result == state.Success {
				p.Version = pkg.Version
			}
		})
		if err != nil {
			return err
		}
		if result == state.Failed {
			return records.UpdateBundleState(ctx, bundle.Name, state.Failed)
		}
	}
	return records.UpdateBundleState(ctx, bundle.Name, state.Success)
}

// A bundle is deployed, and then asked about.
func Example() {
	// A program has kubernetes.NewForConfig here.
	ctx, kube := context.Background(), fake.NewClientset()
	if err := deployPlatform(ctx, kube, func(state.Package) error { return nil }); err != nil {
		fmt.Println(err)
		return
	}
	records, err := state.NewClient(kube, state.Options{Namespace: "team-a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := records.GetBundleState(ctx, "platform")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Name, s.Version, s.Status)
	for _, p := range s.PkgStatuses {
		fmt.Println(p.Name, p.Version, p.Status)
	}
	_, err = records.GetBundleState(ctx, "shop")
	fmt.Println(err)
	// Output:
	// platform 1.4.0 success
	// postgres 1.2.0 success
	// shop 3.0.1 success
	// no record: bundle "shop" has none in namespace "team-a" (Secret intentplane-bundle-shop): deploy the bundle, which makes one (InitBundleState)
}
