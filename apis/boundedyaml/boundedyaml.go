// Package boundedyaml decodes YAML of untrusted authors. An alias of YAML stands for the value of its anchor, and a decoder copies the value for each alias:
// half a megabyte of text can stand for gigabytes. The decoder bounds the number of the values, and not their size. Pure.
package boundedyaml

import (
	"bytes"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

const (
	// maxAliasBytes is the maximum size of the values that aliases of a text stand for.
	maxAliasBytes = 1 << 20

	// valueBytes is about the size of a value without its text.
	valueBytes = 32

	// tooLarge is the size of a value that is not counted further. The sum of many of them is still a number.
	tooLarge = 1 << 30
)

// Unmarshal decodes YAML into a value, as its JSON would be decoded. It returns an error for aliases that stand for too much.
func Unmarshal(text []byte, into any) error {
	if err := Check(text); err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// UnmarshalStrict decodes YAML into a value, and refuses unknown fields and fields that come twice. It returns an error for aliases that stand for too much.
func UnmarshalStrict(text []byte, into any) error {
	if err := Check(text); err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, into)
}

// ToJSONStrict returns YAML as JSON, and refuses fields that come twice. It returns an error for aliases that stand for too much.
func ToJSONStrict(text []byte) ([]byte, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(text)
}

// Check returns an error for YAML with aliases that stand for too much, and for YAML with aliases that cannot be parsed. It reads each document of a text.
func Check(text []byte) (err error) {
	if bytes.IndexByte(text, '&') < 0 || bytes.IndexByte(text, '*') < 0 {
		return nil // A text without an anchor and an alias stands for itself.
	}
	defer func() {
		if p := recover(); p != nil { // The library has panicked on hostile texts before.
			err = errors.New("cannot parse YAML")
		}
	}()
	d := yamlv3.NewDecoder(bytes.NewReader(text))
	c := &counter{anchored: map[*yamlv3.Node]int{}}
	for {
		document := &yamlv3.Node{}
		err := d.Decode(document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.Wrap(err, "cannot parse YAML")
		}
		c.measureNode(document)
		if c.aliasBytes > maxAliasBytes {
			return errors.Errorf("aliases stand for more than %d MiB of values: write the values", maxAliasBytes>>20)
		}
	}
}

// A counter counts the sizes of the values in documents.
type counter struct {
	// anchored has the size of each value with an anchor, and tooLarge for a value that is not counted yet, which contains itself.
	anchored map[*yamlv3.Node]int
	// aliasBytes is the size of the values that the aliases of the documents stand for.
	aliasBytes int
}

// measureNode returns the size of a value with its aliases replaced, and counts its aliases.
func (c *counter) measureNode(n *yamlv3.Node) int {
	if n.Kind == yamlv3.AliasNode {
		size := c.anchored[n.Alias]
		c.aliasBytes = min(tooLarge, c.aliasBytes+size)
		return size
	}
	if n.Anchor != "" {
		c.anchored[n] = tooLarge
	}
	size := valueBytes + len(n.Value)
	for _, child := range n.Content {
		size = min(tooLarge, size+c.measureNode(child))
	}
	if n.Anchor != "" {
		c.anchored[n] = size
	}
	return size
}
