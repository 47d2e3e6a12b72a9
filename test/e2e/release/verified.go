package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/intentplane/intentplane/test/checkout"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// verifiedPackage is installed as released, and changedPackage with one changed byte, as changedVersion.
	verifiedPackage = "configuration-intentplane-namespaced"
	changedPackage  = "configuration-intentplane"
	changedVersion  = "v1.91.1"
)

// wantVerified publishes a signed release, and installs it on a control plane whose Crossplane verifies signatures, as install.yaml wants it.
func wantVerified(t *testing.T, c *checkout.Checkout, s sigstore) {
	t.Helper()
	cp := startVerifying(t, s)
	registry := cp.Registry() + "/intentplane"
	if out, err := c.Make(t.Context(), "publish", "REGISTRY="+registry); err != nil {
		t.Fatalf("make publish: %v\n%s", err, out)
	}
	// An image is looked up by its name in the mirror.
	verification := filepath.Join(t.TempDir(), "verification.yaml")
	text := strings.ReplaceAll(readFileText(t, c.Dist("verification.yaml")), controlplane.Repository, registry)
	if err := os.WriteFile(verification, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runKubectl(t, cp, "apply", "-f", c.Dist("install.yaml"), "-f", verification)

	if err := cp.Install(t.Context(), verifiedPackage, version); err != nil {
		t.Fatal(err)
	}
	wantHealthy(t, cp, "configurations.pkg.crossplane.io/"+verifiedPackage)
	wantHealthy(t, cp, "functions.pkg.crossplane.io/intentplane-function-intentplane")
	wantHealthy(t, cp, "providers.pkg.crossplane.io/intentplane-provider-intentplane")

	publishChanged(t, registry+"/"+changedPackage)
	if err := cp.Install(t.Context(), changedPackage, changedVersion); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, cp, "configurations.pkg.crossplane.io/"+changedPackage)
}

// startVerifying starts a control plane without packages of ours, whose Crossplane verifies signatures and trusts the played services of Sigstore.
func startVerifying(t *testing.T, s sigstore) *controlplane.ControlPlane {
	t.Helper()
	cp, err := controlplane.Start(t.Context(), controlplane.Options{
		CoreArgs: []string{"--enable-signature-verification"}, PackageCache: s.cache, KeepDirOnFailure: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Err(); err != nil {
			t.Error(err)
		}
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

func runKubectl(t *testing.T, cp *controlplane.ControlPlane, args ...string) string {
	t.Helper()
	out, err := cp.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// wantHealthy waits until Crossplane has installed a package.
func wantHealthy(t *testing.T, cp *controlplane.ControlPlane, pkg string) {
	t.Helper()
	for _, state := range []string{"create", "condition=Healthy"} {
		if out, err := cp.Kubectl(t.Context(), "wait", pkg, "--for="+state, "--timeout=5m"); err != nil {
			packages, _ := cp.Kubectl(t.Context(), "get", "pkg", "-o", "yaml") // It explains the failure.
			t.Fatalf("A signed package is installed: %s: %v\n%s\n%s", pkg, err, out, packages)
		}
	}
}

// wantRefused waits until Crossplane has refused a package because of its signature.
func wantRefused(t *testing.T, cp *controlplane.ControlPlane, pkg string) {
	t.Helper()
	runKubectl(t, cp, "wait", pkg, "--for=condition=Installed=False", "--timeout=5m")
	message := runKubectl(t, cp, "get", pkg, "-o", `jsonpath={.status.conditions[?(@.type=="Installed")].message}`)
	if !strings.Contains(message, "signature verification failed") {
		t.Errorf("A package with one changed byte is refused for its signature, got: %s", message)
	}
	if revisions := runKubectl(t, cp, "get", "configurationrevisions.pkg.crossplane.io", "-l", "pkg.crossplane.io/package="+changedPackage, "-o", "name"); revisions != "" {
		t.Errorf("A refused package has no revision, got: %s", revisions)
	}
}

// publishChanged pushes a released package with one changed byte under another version, with the signature of the original.
func publishChanged(t *testing.T, path string) {
	t.Helper()
	repository, err := name.NewRepository(path)
	if err != nil {
		t.Fatal(err)
	}
	original, err := remote.Image(repository.Tag(version))
	if err != nil {
		t.Fatal(err)
	}
	config, err := original.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS = "Linux"
	changed, err := mutate.ConfigFile(original, config)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := remote.Image(repository.Tag(signatureTag(t, original)))
	if err != nil {
		t.Fatal(err)
	}
	for tag, img := range map[string]v1.Image{signatureTag(t, changed): signature, changedVersion: changed} {
		if err := remote.Write(repository.Tag(tag), img); err != nil {
			t.Fatal(err)
		}
	}
}

// signatureTag returns the tag of the signature of an image.
func signatureTag(t *testing.T, img v1.Image) string {
	t.Helper()
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.Algorithm + "-" + digest.Hex + ".sig"
}
