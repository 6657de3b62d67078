#!/bin/sh
# Stands for Terraform: a stack is applied where `../../state/<folder>` exists. Files in `../../does/<folder>`
# say how it behaves: `delay` (seconds of an apply), `until` (the file that an apply waits for), `fail` and `fail-plan` (words
# of an error), `plan.json` (what it plans).
set -eu
folder=${1#-chdir=}
shift
cd "$folder"
name=$(basename "$folder")
state=../../state/$name
does=../../does/$name
mkdir -p ../../state
log=../../calls
echo "$name: $*" >> "$log"
word=$1
shift
plan='' destroy=''
for argument; do
    case $argument in
        -out=*) plan=${argument#-out=} ;;
        -destroy) destroy=yes ;;
        *) last=$argument ;;
    esac
done
change() {
    printf '{"format_version": "1.2", "resource_changes": [{"address": "it.%s", "mode": "managed", "change": {"actions": ["%s"], "before": null, "after": {"pin": "top-secret-pin"}, "after_sensitive": {"pin": true}}}], "output_changes": {}}\n' "$name" "$1"
}
case $word in
    init)
        mkdir -p "${TF_DATA_DIR:-.terraform}"
        for argument; do
            case $argument in -backend-config=*.tfbackend.json) cat "${argument#-backend-config=}" >> ../../told ;; esac
        done
        if grep -q aws_ ./*.tf; then
            mkdir ../../filling || echo "$name: at once" >> "$log"
            sleep 0.1
            rmdir ../../filling
        fi
        ;;
    plan)
        if [ -e $does/fail-plan ]; then cat $does/fail-plan >&2; exit 1; fi
        echo "password = \"hunter2\" and top-secret-pin; CITY=${CITY:-unset}"
        if [ -e $does/plan.json ]; then
            cp $does/plan.json "$plan"
        elif [ -n "$destroy" ] && [ -e "$state" ]; then
            change delete > "$plan"
        elif [ -z "$destroy" ] && [ ! -e "$state" ]; then
            change create > "$plan"
        else
            echo '{"format_version": "1.2"}' > "$plan"
            exit 0
        fi
        exit 2
        ;;
    show) cat "$last" ;;
    apply)
        trap 'echo interrupted >&2; exit 1' INT
        if [ -e "$does/stubborn" ]; then trap '' INT; fi
        if [ -e $does/delay ]; then sleep "$(cat $does/delay)" & wait $!; fi
        if [ -e $does/until ]; then
            turns=0
            until [ -e "$(cat $does/until)" ] || [ $turns -ge 1500 ]; do sleep 0.02; turns=$((turns + 1)); done
        fi
        if [ -e $does/fail ]; then cat $does/fail >&2; exit 1; fi
        if grep -q '"delete"' "$last"; then rm -f "$state"; else : > "$state"; fi
        echo "$name: applied" >> "$log"
        ;;
esac
