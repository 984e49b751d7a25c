// SPDX-License-Identifier: GPL-2.0-or-later

// A log that is appended to, and synced by fsync(): CGO_ENABLED=0 go build log_rows.go
//
//	log_rows write [nosync]   prints a row's number once it is durable
//	log_rows check            each printed row is in the log
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const rowBytes = 64

func row(number int) []byte {
	return []byte(fmt.Sprintf("%0*d\n", rowBytes-1, number))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Goes on until it is killed.
func write(sync bool) {
	log, err := os.OpenFile("log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	must(err)
	for number := 1; ; number++ {
		_, err := log.Write(row(number))
		must(err)
		if sync {
			must(log.Sync())
		}
		fmt.Println(number)
	}
}

func check() {
	notes, err := os.ReadFile(os.Getenv("VSSD_NOTES"))
	must(err)
	last := 0
	if lines := strings.Fields(string(notes)); len(lines) > 0 {
		last, err = strconv.Atoi(lines[len(lines)-1])
		must(err)
	}
	log, _ := os.ReadFile("log")
	for number := 1; number <= last; number++ {
		at := (number - 1) * rowBytes
		if len(log) < at+rowBytes || !bytes.Equal(log[at:at+rowBytes], row(number)) {
			must(fmt.Errorf("row %d of %d durable rows is lost", number, last))
		}
	}
}

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "write":
		write(true)
	case "write nosync":
		write(false)
	case "check":
		check()
	default:
		must(fmt.Errorf("log_rows: write, write nosync or check"))
	}
}
