package controlplane

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/sync/errgroup"
)

// layerAnnotation has the role of a layer of a package. A package file keeps it in labels of the image, a registry on the layer.
const layerAnnotation = "io.crossplane.xpkg"

// A registryServer is an OCI registry on loopback, so that clients use plain HTTP.
type registryServer struct{ *httptest.Server }

// repositoryPrefix returns the prefix of packages in this registry.
func (r *registryServer) repositoryPrefix() string {
	return strings.TrimPrefix(r.URL, "http://") + "/intentplane"
}

// Registry returns the host and port of the registry.
func (c *ControlPlane) Registry() string {
	return strings.TrimPrefix(c.registry.URL, "http://")
}

// authenticateUser accepts only the user of Options, if Options have a user.
func (c *ControlPlane) authenticateUser(next http.Handler) http.Handler {
	if c.o.RegistryUser == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != c.o.RegistryUser || password != c.o.RegistryPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// startRegistry starts the registry, without any package.
func (c *ControlPlane) startRegistry() {
	c.registry = &registryServer{httptest.NewServer(c.authenticateUser(registry.New(
		registry.Logger(log.New(io.Discard, "", 0)),
		registry.WithBlobHandler(registry.NewDiskBlobHandler(filepath.Join(c.Dir, "registry"))),
	)))}
}

// servePackages publishes all packages.
func (c *ControlPlane) servePackages(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range slices.Concat(c.o.Configurations, c.o.Dependencies) {
		g.Go(func() error { return c.Publish(ctx, p, c.o.Version) })
	}
	return g.Wait()
}

// Publish puts a package into the registry under a version.
func (c *ControlPlane) Publish(ctx context.Context, p Package, version string) error {
	return c.publishPackage(ctx, p, version, func(img v1.Image) (v1.Image, error) { return img, nil })
}

func (c *ControlPlane) publishPackage(ctx context.Context, p Package, version string, change func(v1.Image) (v1.Image, error)) error {
	img, err := tarball.ImageFromPath(p.File, nil)
	if err != nil {
		return errors.Wrapf(err, "cannot read package %s", p.File)
	}
	img, err = annotateLayers(img)
	if err != nil {
		return errors.Wrapf(err, "cannot annotate package %s", p.File)
	}
	if img, err = change(img); err != nil {
		return errors.Wrapf(err, "cannot change package %s", p.File)
	}
	tag, err := name.NewTag(c.registry.repositoryPrefix() + "/" + p.Name + ":" + version)
	if err != nil {
		return errors.Wrapf(err, "cannot name package %s", p.Name)
	}
	return errors.Wrapf(remote.Write(tag, img, remote.WithContext(ctx), remote.WithAuth(c.registryAccount())), "cannot push package %s", p.Name)
}

// PublishAll puts all packages into the registry again, under another version with other labels: a release that changed nothing else.
func (c *ControlPlane) PublishAll(ctx context.Context, version string) error {
	for _, p := range slices.Concat(c.o.Configurations, c.o.Dependencies) {
		if err := c.publishPackage(ctx, p, version, func(img v1.Image) (v1.Image, error) { return labelVersion(img, version) }); err != nil {
			return err
		}
	}
	return nil
}

func labelVersion(img v1.Image, version string) (v1.Image, error) {
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	next := cfg.DeepCopy()
	next.Config.Labels["org.opencontainers.image.version"] = version
	return mutate.ConfigFile(img, next)
}

// annotateLayers moves the labels of an image about its layers to the layers, where Crossplane looks first: it then reads one
// layer and not the whole runtime image.
func annotateLayers(img v1.Image) (v1.Image, error) {
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	annotated := empty.Image
	for _, l := range layers {
		digest, err := l.Digest()
		if err != nil {
			return nil, err
		}
		add := mutate.Addendum{Layer: l}
		if annotation, ok := cfg.Config.Labels[layerAnnotation+":"+digest.String()]; ok {
			add.Annotations = map[string]string{layerAnnotation: annotation}
		}
		if annotated, err = mutate.Append(annotated, add); err != nil {
			return nil, err
		}
	}
	return mutate.ConfigFile(annotated, cfg)
}

func (c *ControlPlane) registryAccount() authn.Authenticator {
	if c.o.RegistryUser == "" {
		return authn.Anonymous
	}
	return &authn.Basic{Username: c.o.RegistryUser, Password: c.o.RegistryPassword}
}
