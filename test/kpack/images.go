package kpack

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const (
	// stack and buildpack are the names in the labels of the images.
	stack     = "org.example.stack"
	buildpack = "example/app"

	// api is a version of the buildpack and the platform interface that kpack supports.
	api = "0.8"

	labelStack    = "io.buildpacks.stack.id"
	labelBuilder  = "io.buildpacks.builder.metadata"
	labelAPIs     = "io.buildpacks.lifecycle.apis"
	labelPackage  = "io.buildpacks.buildpackage.metadata"
	labelPackaged = "io.buildpacks.buildpack.layers"
)

// An object is the JSON content of a label of an image.
type object map[string]any

// makeFileImage makes an image of this machine's platform with one file; equal arguments give an equal image.
func makeFileImage(file, content string, change func(*v1.Config, v1.Layer) error) (v1.Image, error) {
	layer, err := crane.Layer(map[string][]byte{file: []byte(content)})
	if err != nil {
		return nil, errors.Wrap(err, "cannot make layer")
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make image")
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, errors.Wrap(err, "cannot read configuration of image")
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture = "linux", runtime.GOARCH
	if err := change(&cfg.Config, layer); err != nil {
		return nil, err
	}
	img, err = mutate.ConfigFile(img, cfg)
	return img, errors.Wrap(err, "cannot write configuration of image")
}

// makeStackImage makes an image that programs are built in, or run in.
func makeStackImage(content string) (v1.Image, error) {
	return makeFileImage("stack", content, func(c *v1.Config, _ v1.Layer) error {
		c.Env = []string{"CNB_USER_ID=1000", "CNB_GROUP_ID=1000"}
		c.Labels = map[string]string{labelStack: stack}
		return nil
	})
}

// makeLifecycleImage makes an image of a lifecycle, whose programs the Player plays.
func makeLifecycleImage() (v1.Image, error) {
	supported := object{"deprecated": []string{}, "supported": []string{api}}
	return makeFileImage("lifecycle", "", func(c *v1.Config, _ v1.Layer) error {
		return setImageLabels(c, map[string]any{
			labelBuilder: object{"lifecycle": object{"version": "0.20.0"}, "api": object{"buildpack": api, "platform": api}},
			labelAPIs:    object{"buildpack": supported, "platform": supported},
		})
	})
}

func makeBuildpackImage(version string) (v1.Image, error) {
	return makeFileImage("buildpack", version, func(c *v1.Config, l v1.Layer) error {
		id, err := l.DiffID()
		if err != nil {
			return errors.Wrap(err, "cannot read id of layer")
		}
		layer := object{"api": api, "layerDiffID": id.String(), "stacks": []any{object{"id": stack}}}
		return setImageLabels(c, map[string]any{
			labelPackage:  object{"id": buildpack, "version": version},
			labelPackaged: object{buildpack: object{version: layer}},
		})
	})
}

func setImageLabels(c *v1.Config, labels map[string]any) error {
	c.Labels = map[string]string{}
	for name, value := range labels {
		b, err := json.Marshal(value)
		if err != nil {
			return errors.Wrapf(err, "cannot write label %s", name)
		}
		c.Labels[name] = string(b)
	}
	return nil
}

// pushTaggedImage pushes an image under tags, and returns its name by digest.
func pushTaggedImage(ctx context.Context, img v1.Image, tags ...string) (string, error) {
	digest, err := img.Digest()
	if err != nil {
		return "", errors.Wrap(err, "cannot read digest of image")
	}
	reference := ""
	for _, t := range tags {
		tag, err := name.NewTag(t)
		if err != nil {
			return "", errors.Wrapf(err, "cannot read tag %s", t)
		}
		if err := remote.Write(tag, img, remote.WithContext(ctx)); err != nil {
			return "", errors.Wrapf(err, "cannot push %s", t)
		}
		if reference == "" {
			reference = tag.Context().Name() + "@" + digest.String()
		}
	}
	return reference, nil
}
