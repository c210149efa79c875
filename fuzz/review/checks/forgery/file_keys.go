package forgery

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentFileKeys presents states whose key ID is the path of a file that the server shows as a
// resource, signed under the text of that file.
func presentFileKeys(t *review.T) {
	namesKey := func(o *review.Oracle) bool {
		return len(tokens.UnderKeys(o.Token, map[string][]string{"sealab": {""}})) > 0
	}
	if len(t.Findings) > 0 || !slices.ContainsFunc(t.Oracles, namesKey) {
		return
	}
	files := shownFiles(t)
	t.ForEachFlow(func(o *review.Oracle) {
		if len(files) > 0 && namesKey(o) && !o.Presence {
			presentVariants(t, review.Critical, "a state under a file that the server shows", func(token string) []tokens.Variant { return tokens.UnderKeys(token, files) })
		}
	})
}

// shownFiles returns the texts of resources, by the paths that their files may have from a folder of
// keys.
func shownFiles(t *review.T) map[string][]string {
	files := map[string][]string{}
	all := t.Report.Server.Resources
	for _, resource := range all[:min(len(all), review.MaxTestedCalls)] {
		a := t.Call(client.ReadResource(resource.URI))
		for _, text := range contentsOf(a.Result) {
			for _, id := range pathsFromKeys(resource) {
				files[id] = append(files[id], text)
				if trimmed := strings.TrimSpace(text); trimmed != text {
					files[id] = append(files[id], trimmed)
				}
			}
		}
	}
	return files
}

// contentsOf returns the texts and decoded blobs in the result of resources/read.
func contentsOf(result json.RawMessage) []string {
	var all []string
	var contents []struct{ Text, Blob string }
	_ = json.Unmarshal(jsondoc.Members(result)["contents"], &contents) // empty if it is of another type
	for _, c := range contents {
		blob, _ := base64.StdEncoding.DecodeString(c.Blob) // empty if it is malformed
		if text := c.Text + string(blob); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// fileName matches names of resources that may be names of files.
var fileName = regexp.MustCompile(`^[\w.-]+$`)

// pathsFromKeys returns the paths that the file of a resource may have from a folder of keys: in it,
// beside it, and one level up.
func pathsFromKeys(resource client.Offer) []string {
	names := []string{resource.Name}
	u, err := url.Parse(resource.URI)
	if err == nil {
		place := strings.Trim(u.Host+u.Path, "/")
		names = append(names, path.Base(place), place)
	}
	var all []string
	for _, name := range names {
		if fileName.MatchString(path.Base(name)) {
			all = append(all, name, "../"+name, "../../"+name)
		}
	}
	if err == nil && u.Scheme == "file" {
		all = append(all, u.Path, tokens.AtRoot+strings.Trim(u.Path, "/"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
