package v1alpha1

// LabelListed is a label of Blueprints whose names messages suggest. The provider sets it. The function requests Blueprints by it when the Blueprint that a
// deployment names does not exist: MaxListedBytes and MaxListed bound the response, which would otherwise hold every manifest of the catalog.
const LabelListed = "catalog.intentplane.dev/listed"

// ListedTrue is the value of LabelListed.
const ListedTrue = "true"

// Bounds of the Blueprints with LabelListed: 6 MiB together, of the 16 MiB that a request may have.
const (
	// MaxListedBytes is the greatest size of a Blueprint with LabelListed, as JSON, in bytes.
	MaxListedBytes = 32 << 10

	// MaxListed is the greatest number of Blueprints with LabelListed.
	MaxListed = 200
)
