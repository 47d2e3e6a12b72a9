package kpack

import "github.com/intentplane/intentplane/apis/containerimage"

// ImageRepository returns the repository of the images of an ImageBuild, below the registry of the configuration. Each Image pushes to its own repository.
func ImageRepository(registry, namespace, name string) string {
	return registry + "/" + namespace + "/" + name
}

// CheckImage returns whether an image is in a repository, by its digest. Docker Hub has two names.
func CheckImage(image, repository string) bool {
	got, err := containerimage.Parse(image)
	if err != nil || got.Digest == "" {
		return false
	}
	want, err := containerimage.Parse(repository)
	return err == nil && want.Tag == "" && want.Digest == "" && got.Repository == want.Repository
}
