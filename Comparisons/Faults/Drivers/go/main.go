// Reads the cases, makes their calls, and writes the results.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"
)

type call struct {
	Method, URL            string
	Fields                 [][2]string
	Body                   *string
	Deadline, Cancel, Wait int
	Read                   []string
}

type kase struct {
	Needs  []string
	Client struct {
		Proxy       string
		Connections int
	}
	Authority string
	Steps     [][]call
}

// latin1 returns the bytes of a text in which each character is one byte.
func latin1(text string) string {
	bytes := make([]byte, 0, len(text))
	for _, character := range text {
		bytes = append(bytes, byte(character))
	}
	return string(bytes)
}

func perform(client *http.Client, c call) map[string]any {
	begin := time.Now()
	result, err := fetch(client, c)
	if err != nil {
		result = map[string]any{"outcome": "error", "error": fmt.Sprintf("%T: %v", err, err)}
	}
	result["ms"] = time.Since(begin).Milliseconds()
	return result
}

func run(k kase) []map[string]any {
	client, results := open(k), []map[string]any{}
	for _, step := range k.Steps {
		wait := 0
		for _, c := range step {
			wait = max(wait, c.Wait)
		}
		time.Sleep(time.Duration(wait) * time.Millisecond)
		part := make([]map[string]any, len(step))
		var group sync.WaitGroup
		for i, c := range step {
			group.Go(func() { part[i] = perform(client, c) })
		}
		group.Wait()
		results = append(results, part...)
	}
	return results
}

func main() {
	out := json.NewEncoder(os.Stdout)
	if len(os.Args) > 1 && os.Args[1] == "--describe" {
		out.Encode(map[string]any{"version": runtime.Version(), "features": features})
		return
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var k kase
		json.Unmarshal(line, &k)
		out.Encode(map[string]any{"results": run(k)})
	}
}
