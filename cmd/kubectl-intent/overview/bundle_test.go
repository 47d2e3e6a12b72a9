package overview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestForBundle(t *testing.T) {
	f := samples.InProgress(samples.WrongPassword()).Facts()
	got := Lines(ForBundle(f, cause.FindForBundle(f, samples.Now())), Style{Now: samples.Now(), Width: 80})
	want := []string{
		"platform  team-a  Bundle intentplane.dev                         Deploying 0m41s",
		"Package shop is deploying: IntentDeployment shop is Delivering.",
		"Next: Correct the credentials in the Secret of the configuration (for the",
		"platform team).",
		"version 1.4.0  packages 1/2",
		"├─ package database success  15.2      5f77a90   layer 1",
		"└─ package shop     deploying 2.0      8d21c0e   layer 2: InProgress: IntentD...",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nA Bundle is shown with its packages, and with the object that the package in its way waits for.\nLines(...): -want, +got:\n%s", diff)
	}
}

// TestForEditedBundle has a status about an earlier spec: its version, and the states of its packages, are of that one.
func TestForEditedBundle(t *testing.T) {
	f := samples.InProgress(samples.WrongPassword()).Facts()
	f.SpecDigest, f.Bundle.Spec.Version = "another", "1.5.0"
	got := Lines(ForBundle(f, cause.Finding{IsGood: true}), Style{Now: samples.Now(), Width: 80})
	want := []string{
		"platform  team-a  Bundle intentplane.dev                                 Pending",
		"The status does not describe the current spec yet.",
		"version 1.5.0",
		"├─ package database unknown  15.2      5f77a90",
		"└─ package shop     unknown  2.0       8d21c0e",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nAn edited Bundle has nothing of the earlier spec, and the versions that run.\nLines(...): -want, +got:\n%s", diff)
	}
}

func TestRowForBundle(t *testing.T) {
	f := samples.InProgress(samples.WrongPassword()).Facts()
	got := Table([]Row{RowForBundle(f, cause.FindForBundle(f, samples.Now()))}, Style{Now: samples.Now()}, false)
	want := []string{"NAME      PHASE      PACKAGES  SINCE  REASON      WHO", "platform  Deploying  1/2       0m41s  AuthFailed  platform team"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nA list says how many packages run.\nTable(...): -want, +got:\n%s", diff)
	}
}
