({one} = {other}) IS NOT 1
