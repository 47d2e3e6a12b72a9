package kpack

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A build has the fields of a Build that the Player reads.
type build struct {
	Spec struct {
		Tags    []string `json:"tags"`
		Builder struct {
			Image string `json:"image"`
		} `json:"builder"`
		RunImage struct {
			Image string `json:"image"`
		} `json:"runImage"`
		Source struct {
			Git struct {
				Revision string `json:"revision"`
			} `json:"git"`
			Blob struct {
				URL string `json:"url"`
			} `json:"blob"`
		} `json:"source"`
	} `json:"spec"`
}

// A report is the termination message of the step "completion": kpack reads the image of a Build there.
type report struct {
	Buildpacks       []module `json:"buildpackMetadata"`
	CacheImage       string   `json:"latestCacheImage"`
	Image            string   `json:"latestImage"`
	Stack            string   `json:"stackID"`
	RunImage         string   `json:"stackRunImage"`
	LifecycleVersion string   `json:"lifecycleVersion"`
}

// A module is a buildpack in a builder.
type module struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// exportImage pushes the image of a pod's Build, and returns the termination message that reports it.
func (p *Player) exportImage(ctx context.Context, pod *corev1.Pod, play Play) (string, error) {
	b, err := p.readBuildOfPod(ctx, pod)
	if err != nil {
		return "", err
	}
	content := b.Spec.Source.Git.Revision + b.Spec.Source.Blob.URL
	if play.Content != "" {
		content = play.Content
	}
	img, err := makeFileImage("app", content, func(c *v1.Config, _ v1.Layer) error {
		// The layers of the run image are the lowest ones of a real image.
		c.Labels = map[string]string{labelStack: stack, "org.example.run-image": b.Spec.RunImage.Image}
		return nil
	})
	if err != nil {
		return "", err
	}
	r, err := readBuilderReport(ctx, b)
	if err != nil {
		return "", err
	}
	if r.Image, err = pushTaggedImage(ctx, img, b.Spec.Tags...); err != nil {
		return "", err
	}
	return r.encodeCompressed()
}

func (p *Player) readBuildOfPod(ctx context.Context, pod *corev1.Pod) (*build, error) {
	o := newUnstructured("Build", pod.GetLabels()[labelBuild])
	o.SetNamespace(pod.GetNamespace())
	if err := p.client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return nil, errors.Wrapf(err, "cannot get Build of pod %s", pod.GetName())
	}
	return decodeBuild(o)
}

func decodeBuild(o *unstructured.Unstructured) (*build, error) {
	b := &build{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, b)
	return b, errors.Wrapf(err, "cannot read Build %s", o.GetName())
}

// readBuilderReport returns the report of a lifecycle about the builder of a Build. kpack compares it with the builder, and builds again for as long
// as it differs.
func readBuilderReport(ctx context.Context, b *build) (*report, error) {
	ref, err := name.ParseReference(b.Spec.Builder.Image)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read name of builder")
	}
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return nil, errors.Wrap(err, "cannot pull builder")
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, errors.Wrap(err, "cannot read configuration of builder")
	}
	holds := struct {
		Buildpacks []module `json:"buildpacks"`
		Lifecycle  struct {
			Version string `json:"version"`
		} `json:"lifecycle"`
	}{}
	if err := json.Unmarshal([]byte(cfg.Config.Labels[labelBuilder]), &holds); err != nil {
		return nil, errors.Wrap(err, "cannot read label of builder")
	}
	return &report{Buildpacks: holds.Buildpacks, Stack: stack, RunImage: b.Spec.RunImage.Image, LifecycleVersion: holds.Lifecycle.Version}, nil
}

// encodeCompressed writes a report as kpack reads it: JSON, compressed, in text.
func (r *report) encodeCompressed() (string, error) {
	plain, err := json.Marshal(r)
	if err != nil {
		return "", errors.Wrap(err, "cannot write report")
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		return "", errors.Wrap(err, "cannot compress report")
	}
	if err := w.Close(); err != nil {
		return "", errors.Wrap(err, "cannot compress report")
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
