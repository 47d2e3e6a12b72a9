package node

import (
	"archive/tar"
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pullKeys are credentials of registries, by host, as pull secrets have them.
type pullKeys map[string]authn.AuthConfig

// Resolve returns the credentials of a registry, or none.
func (k pullKeys) Resolve(r authn.Resource) (authn.Authenticator, error) {
	if c, ok := k[r.RegistryStr()]; ok {
		return authn.FromConfig(c), nil
	}
	return authn.Anonymous, nil
}

// pullSecrets returns the credentials that a pod pulls with: from its own pull secrets, and from its service account.
func (n *Node) pullSecrets(ctx context.Context, p corev1.PodSpec) (pullKeys, error) {
	sa := &corev1.ServiceAccount{}
	err := n.o.Client.Get(ctx, types.NamespacedName{Namespace: n.o.Namespace, Name: p.ServiceAccountName}, sa)
	if client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrapf(err, "cannot get service account %s", p.ServiceAccountName)
	}
	out := pullKeys{}
	for _, ref := range slices.Concat(p.ImagePullSecrets, sa.ImagePullSecrets) {
		s := &corev1.Secret{}
		if err := n.o.Client.Get(ctx, types.NamespacedName{Namespace: n.o.Namespace, Name: ref.Name}, s); err != nil {
			return nil, errors.Wrapf(err, "cannot get pull secret %s", ref.Name)
		}
		keys := struct {
			Auths pullKeys `json:"auths"`
		}{Auths: out}
		if err := json.Unmarshal(s.Data[corev1.DockerConfigJsonKey], &keys); err != nil {
			return nil, errors.Wrapf(err, "cannot read pull secret %s", ref.Name)
		}
	}
	return out, nil
}

// pullProgram gets an image for this machine's architecture, writes the program that it runs into dir, and returns its path.
func pullProgram(ctx context.Context, image string, keys pullKeys, dir string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", errors.Wrapf(err, "cannot read image %s", image)
	}
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	img, err := remote.Image(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(keys), remote.WithPlatform(platform))
	if err != nil {
		return "", errors.Wrapf(err, "cannot pull %s", image)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return "", errors.Wrapf(err, "cannot read configuration of %s", image)
	}
	if len(cfg.Config.Entrypoint) == 0 {
		return "", errors.Errorf("cannot run %s: the image has no entrypoint", image)
	}
	binary := filepath.Join(dir, path.Base(cfg.Config.Entrypoint[0]))
	return binary, errors.Wrapf(extractFile(img, cfg.Config.Entrypoint[0], binary), "cannot extract %s of %s", cfg.Config.Entrypoint[0], image)
}

// extractFile writes one file of an image to a path, as a program.
func extractFile(img v1.Image, file, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	files := mutate.Extract(img)
	defer func() { _ = files.Close() }() // It is only read.
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("the image has no such file")
		}
		if err != nil {
			return err
		}
		if path.Clean("/"+h.Name) != path.Clean(file) {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		// A program that runs cannot be written over.
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o700)
	}
}
