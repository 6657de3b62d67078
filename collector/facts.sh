# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154
# (These checks do not see what eval reads and sets, and that a subshell is the body of one function on purpose.)
# What is so on this node. Reads only.
#
# Every kind of question has a function `facts_<kind> ID ARG… ID ARG…`, called once with all questions of the kind.
# An answer is a record of tokens on stdout, each ended by NUL:
#
#     >ID  name=value  name:base64  name#hexadecimal  .
#
# `error=words` in a record means: unknown, and these are the tool's words. Nothing is ever guessed. The control
# side ignores what stands between records.
# Needs lib.sh, LC_ALL=C and /dev/null as stdin. A function that changes IFS or options has a subshell as its body.

# fact ID name=value…: a whole record.
fact() {
    printf '>%s\0' "$1"
    shift
    printf '%s\0' "$@" .
}

# fact_unknown ID WORDS
fact_unknown() {
    fact "$1" "error=$2"
}

# A record in pieces: fact_open ID; fact_field name=value…; fact_base64 NAME <file; fact_close
fact_open() {
    printf '>%s\0' "$1"
}

fact_field() {
    printf '%s\0' "$@"
}

fact_base64() {
    fact_broken=''
    if need base64; then
        printf '%s:' "$1"
        base64 2>/dev/null || fact_broken=1
    else
        printf '%s#' "$1"
        od -An -v -tx1 2>/dev/null || fact_broken=1
    fi
    printf '\0'
    if [ -n "$fact_broken" ]; then fact_field "error=cannot read the content"; fi
}

fact_close() {
    printf '.\0'
}

fact_newline='
'
fact_stat='%f:%u:%g:%s:%Y:%U:%G'

# facts_path ID PATH WANT…
#
# WANT: `-` no digest; `+` digest and content (up to 1 MiB); a sha256: digest, and content (up to 64 KiB) only where
# it differs; `=` and a sha256: digest only.
# Fields: type (file, directory, link, other, missing), stat (a raw line), uid and gid of this session; for a link
# target, real (what it leads to in the end), to_stat; sha256 (empty: none), content.
#
# One stat and one sha256sum serve all paths; the shell itself decides what is there, since the words and the status
# of these tools differ.
facts_path() (
    own_ids
    fact_uid=uid=$own_uid fact_gid=gid=$own_gid
    IFS=$fact_newline
    set -f
    fact_at=0 fact_turn=id fact_all='' fact_links='' fact_sums='' fact_count=0 fact_link_count=0
    for fact_word; do
        fact_at=$((fact_at + 1))
        case $fact_turn in
        id) fact_turn=path ;;
        path)
            fact_turn=want fact_path=$fact_word fact_type=missing
            if [ -L "$fact_path" ]; then
                fact_type=dangling
                if [ -e "$fact_path" ]; then
                    fact_type='link'
                    fact_links="$fact_links \"\${$fact_at}\"" fact_link_count=$((fact_link_count + 1))
                fi
            elif [ -f "$fact_path" ]; then
                fact_type='file'
            elif [ -d "$fact_path" ]; then
                fact_type=directory
            elif [ -e "$fact_path" ]; then
                fact_type=other
            fi
            if [ "$fact_type" != missing ]; then
                fact_all="$fact_all \"\${$fact_at}\"" fact_count=$((fact_count + 1))
            fi
            eval "fact_type_$fact_at=\$fact_type"
            ;;
        want)
            fact_turn=id
            # The names of odd files are escaped by some tools: those are digested alone.
            case $fact_path in *\\* | *"$fact_newline"*) continue ;; esac
            if [ "$fact_word" != - ] && [ -f "$fact_path" ]; then
                fact_sums="$fact_sums \"\${$((fact_at - 1))}\""
            fi
            ;;
        esac
    done
    fact_lines=''
    [ -z "$fact_all" ] || eval "fact_lines=\$(stat -c '$fact_stat' --$fact_all 2>/dev/null)"
    fact_keep stat "$fact_lines"
    [ "$fact_kept" = "$fact_count" ] || fact_kept_stat=no
    fact_lines=''
    [ -z "$fact_links" ] || eval "fact_lines=\$(stat -L -c '$fact_stat' --$fact_links 2>/dev/null)"
    fact_keep to "$fact_lines"
    [ "$fact_kept" = "$fact_link_count" ] || fact_kept_to=no
    fact_lines=''
    [ -z "$fact_sums" ] || eval "fact_lines=\$(sha256sum --$fact_sums 2>/dev/null)"
    fact_keep sum "$fact_lines"
    fact_stat_at=0 fact_to_at=0 fact_sum_at=0 fact_at=0 fact_turn=id
    for fact_word; do
        fact_at=$((fact_at + 1))
        case $fact_turn in
        id) fact_turn=path fact_id=$fact_word ;;
        path) fact_turn=want fact_path=$fact_word ;;
        want)
            fact_turn=id
            eval "fact_type=\$fact_type_$((fact_at - 1))"
            fact_path_answer "$fact_id" "$fact_path" "$fact_word" "$fact_type"
            ;;
        esac
    done
)

# fact_keep NAME LINES: keeps the lines as fact_NAME_1, …; sets fact_kept to their number.
fact_keep() {
    fact_kept=0
    for fact_line in $2; do
        fact_kept=$((fact_kept + 1))
        eval "fact_$1_$fact_kept=\$fact_line"
    done
    eval "fact_kept_$1=\$fact_kept"
}

# fact_path_answer ID PATH WANT TYPE
fact_path_answer() {
    if [ "$4" = missing ]; then
        fact_gone "$1" "$2"
        return
    fi
    fact_next_stat stat "$2" -c || {
        fact_unknown "$1" "${fact_line:-stat said nothing about $2}"
        return
    }
    fact_type=$4 fact_here=$fact_line fact_to='' fact_sum=''
    case $fact_type in
    link | dangling)
        # The dot keeps newlines at the end of a target.
        fact_target=$(readlink -- "$2" && printf .) || {
            fact_unknown "$1" "readlink cannot read $2"
            return
        }
        fact_target=${fact_target%"$fact_newline".}
        fact_resolve "$2"
        if [ "$fact_type" = 'link' ]; then
            fact_next_stat to "$2" -Lc || {
                fact_unknown "$1" "${fact_line:-stat said nothing about the target of $2}"
                return
            }
            fact_to=$fact_line
        fi
        fact_type='link'
        ;;
    esac
    if [ "$3" != - ] && [ -f "$2" ]; then
        fact_next_sum "$2" || {
            fact_unknown "$1" "$fact_line"
            return
        }
        fact_sum=$fact_line
    fi
    # The frequent answer goes out in one write.
    if [ "$fact_type" != 'link' ]; then
        case $fact_sum in
        '' | "${3#=}")
            printf '>%s\0type=%s\0stat=%s\0%s\0%s\0sha256=%s\0.\0' \
                "$1" "$fact_type" "$fact_here" "$fact_uid" "$fact_gid" "$fact_sum"
            return
            ;;
        esac
    fi
    fact_open "$1"
    fact_field "type=$fact_type" "stat=$fact_here" "$fact_uid" "$fact_gid" "sha256=$fact_sum"
    if [ "$fact_type" = 'link' ]; then fact_field "target=$fact_target" "real=$fact_real" "to_stat=$fact_to"; fi
    if [ -n "$fact_sum" ]; then fact_path_content "$2" "$3"; fi
    fact_close
}

# fact_path_content PATH WANT
fact_path_content() {
    case $2 in
    +) fact_most=1048576 ;;
    =* | "$fact_sum") return 0 ;;
    *) fact_most=65536 ;;
    esac
    fact_size=${fact_to:-$fact_here}
    fact_size=${fact_size#*:*:*:}
    if [ "${fact_size%%:*}" -le "$fact_most" ]; then fact_base64 content <"$1"; fi
}

# fact_resolve PATH: sets fact_real to the path at the end of all links; empty where nobody can say.
fact_resolve() {
    fact_real=$(readlink -f -- "$1" 2>/dev/null && printf .) || fact_real=
    fact_real=${fact_real%"$fact_newline".}
    if [ -n "$fact_real" ]; then return; fi
    # busybox resolves no link that leads to nothing.
    fact_step=$1 fact_steps=0
    while [ -L "$fact_step" ]; do
        fact_steps=$((fact_steps + 1))
        fact_next=$(readlink -- "$fact_step" && printf .) || return 0
        fact_next=${fact_next%"$fact_newline".}
        if [ "$fact_steps" -gt 40 ]; then return 0; fi
        case $fact_next in
        /*) fact_step=$fact_next ;;
        *) fact_step=${fact_step%/*}/$fact_next ;;
        esac
    done
    fact_next=$(CDPATH='' cd -P -- "${fact_step%/*}/" 2>/dev/null && pwd -P && printf .) || return 0
    fact_next=${fact_next%"$fact_newline".}
    fact_real=${fact_next%/}/${fact_step##*/}
}

# fact_gone ID PATH: a path is missing only where every folder above it could be searched.
fact_gone() {
    fact_above=$2
    while :; do
        fact_above=${fact_above%/*}
        if [ -z "$fact_above" ]; then break; fi
        if [ -e "$fact_above" ] || [ -L "$fact_above" ]; then break; fi
    done
    if [ -d "$fact_above/" ] && [ ! -x "$fact_above/" ]; then
        fact_unknown "$1" "cannot search ${fact_above:-/}: permission denied"
    else
        fact "$1" type=missing "$fact_uid" "$fact_gid"
    fi
}

# fact_next_stat NAME PATH OPTION: sets fact_line to the next line of a batch; where the batch did not answer for
# all (something went away meanwhile), asks again for this path alone.
fact_next_stat() {
    eval "fact_kept=\$fact_kept_$1"
    if [ "$fact_kept" = no ]; then
        fact_line=$(stat "$3" "$fact_stat" -- "$2" 2>&1) || return 1
    else
        eval "fact_$1_at=\$((fact_$1_at + 1))"
        eval "eval \"fact_line=\\\$fact_$1_\$fact_$1_at\""
    fi
    case $fact_line in *[!0-9a-f]*:*:*:*:*:*:*) return 1 ;; ?*:?*:?*:?*:*:*:*) ;; *) return 1 ;; esac
}

# fact_next_sum PATH: sets fact_line to the digest, and to the tool's words where there is none.
fact_next_sum() {
    fact_sum_next=$((fact_sum_at + 1))
    if [ "$fact_sum_next" -le "$fact_kept_sum" ]; then
        eval "fact_line=\$fact_sum_$fact_sum_next"
        case $fact_line in
        *"  $1" | *" *$1")
            fact_line=${fact_line%% *} fact_sum_at=$fact_sum_next
            fact_is_sum && return
            ;;
        esac
    fi
    need sha256sum || {
        fact_line='needs sha256sum'
        return 1
    }
    fact_line=$({ sha256sum <"$1"; } 2>&1) || return 1
    fact_line=${fact_line%% *}
    fact_is_sum
}

fact_is_sum() {
    case $fact_line in *[!0-9a-f]*) return 1 ;; esac
    [ "${#fact_line}" = 64 ]
}

# facts_test ID SCRIPT…: the exit status of each, and the end of what it said.
#
# A subshell and no `sh -c`, since arguments of a process can be read by everybody.
facts_test() {
    while [ $# -ge 2 ]; do
        fact_said=$(
            exec 2>&1 </dev/null
            set +eu
            eval "$2"
        ) && fact_status=0 || fact_status=$?
        while [ "${#fact_said}" -gt 2000 ]; do fact_said=${fact_said#??????????????????????????????????????????}; done
        fact "$1" "status=$fact_status" "said=$fact_said"
        shift 2
    done
}

# facts_authorized_keys ID USER…: account (present, missing), home, and the content of ~/.ssh/authorized_keys.
facts_authorized_keys() {
    fact_at=0 fact_all='' fact_lines=''
    for fact_word; do
        fact_at=$((fact_at + 1))
        [ "$((fact_at % 2))" = 1 ] || fact_all="$fact_all \"\${$fact_at}\""
    done
    # One call for all of them; who is not in its answer is asked for alone.
    if [ $# -ge 4 ] && need getent; then eval "fact_lines=\$(getent passwd --$fact_all 2>/dev/null)" || :; fi
    while [ $# -ge 2 ]; do
        home_of "$2" "$fact_lines" && fact_status=0 || fact_status=$?
        if [ "$fact_status" = 0 ]; then
            fact_path=$home/.ssh/authorized_keys
            if [ -e "$fact_path" ] && [ ! -r "$fact_path" ]; then
                fact_unknown "$1" "cannot read $fact_path"
            elif [ ! -e "$fact_path" ] && [ -d "$home" ] && [ ! -x "$home" ]; then
                fact_unknown "$1" "cannot search $home"
            else
                fact_open "$1"
                fact_field account=present "home=$home"
                if [ -f "$fact_path" ]; then fact_base64 content <"$fact_path"; fi
                fact_close
            fi
        elif [ "$fact_status" = 2 ]; then
            fact "$1" account=missing
        else
            fact_unknown "$1" "the account database gave no answer about $2"
        fi
        shift 2
    done
}

# facts_owed ID -: what this node owes, as `owe` wrote it.
facts_owed() {
    while [ $# -ge 2 ]; do
        owed_place
        if [ -z "$owed_file" ]; then
            fact "$1" state=nowhere
        elif [ ! -e "$owed_file" ]; then
            fact "$1" state=nothing
        else
            fact_open "$1"
            fact_field state=something
            fact_base64 owed <"$owed_file"
            fact_close
        fi
        shift 2
    done
}
