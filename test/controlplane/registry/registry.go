// Package registry serves packages of Crossplane as an OCI registry on loopback, so that clients use plain HTTP.
package registry

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// layerAnnotation has the role of a layer of a package. A package file keeps it in labels of the image, a registry on the layer.
const layerAnnotation = "io.crossplane.xpkg"

// An Account has the credentials of a registry. Without a user the registry is open.
type Account struct {
	User, Password string
}

// A Server is a registry that runs.
type Server struct {
	*httptest.Server

	account Account
}

// Start starts a registry without any package, which keeps its content in a directory.
func Start(dir string, a Account) *Server {
	return &Server{account: a, Server: httptest.NewServer(a.authenticateUser(ociregistry.New(
		ociregistry.Logger(log.New(io.Discard, "", 0)),
		ociregistry.WithBlobHandler(ociregistry.NewDiskBlobHandler(dir)),
	)))}
}

// Address returns the host and port of the registry.
func (s *Server) Address() string {
	return strings.TrimPrefix(s.URL, "http://")
}

// RepositoryPrefix returns the prefix of packages in this registry.
func (s *Server) RepositoryPrefix() string {
	return s.Address() + "/intentplane"
}

// authenticateUser accepts only the user of the account, if it has a user.
func (a Account) authenticateUser(next http.Handler) http.Handler {
	if a.User == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != a.User || password != a.Password {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a Account) authenticator() authn.Authenticator {
	if a.User == "" {
		return authn.Anonymous
	}
	return &authn.Basic{Username: a.User, Password: a.Password}
}

// Publish puts a package file into the registry under a name and a version. It returns an error when the file is not a package, and when it cannot be pushed.
func (s *Server) Publish(ctx context.Context, file, packageName, version string) error {
	return s.publishPackage(ctx, file, packageName, version, func(img v1.Image) (v1.Image, error) { return img, nil })
}

// PublishRelease puts a package file into the registry under a name and a version, which is also in a label of the package: a release without another change.
// It returns an error as Publish does.
func (s *Server) PublishRelease(ctx context.Context, file, packageName, version string) error {
	return s.publishPackage(ctx, file, packageName, version, func(img v1.Image) (v1.Image, error) { return labelVersion(img, version) })
}

func (s *Server) publishPackage(ctx context.Context, file, packageName, version string, change func(v1.Image) (v1.Image, error)) error {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return errors.Wrapf(err, "cannot read package %s", file)
	}
	img, err = annotateLayers(img)
	if err != nil {
		return errors.Wrapf(err, "cannot annotate package %s", file)
	}
	if img, err = change(img); err != nil {
		return errors.Wrapf(err, "cannot change package %s", file)
	}
	tag, err := name.NewTag(s.RepositoryPrefix() + "/" + packageName + ":" + version)
	if err != nil {
		return errors.Wrapf(err, "cannot name package %s", packageName)
	}
	return errors.Wrapf(remote.Write(tag, img, remote.WithContext(ctx), remote.WithAuth(s.account.authenticator())), "cannot push package %s", packageName)
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
